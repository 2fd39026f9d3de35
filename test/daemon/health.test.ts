import { describe, expect, it } from "vitest";
import { processProblems } from "../../src/daemon/health.ts";
import type { ComponentState, Health } from "../../src/kernel/supervisor/component.ts";

const state = (
  name: string,
  phase: ComponentState["phase"] = "ready",
  more: Partial<ComponentState> = {},
): ComponentState => ({
  name,
  phase,
  reason: undefined,
  readiness: "required",
  crashes: 0,
  sinceMs: 0,
  ...more,
});
const problems = (states: readonly ComponentState[], stores: Health = { ok: true }) =>
  processProblems({ states, stores });

describe("what is not well with the process", () => {
  it("is nothing while every component is ready or not yet started", () => {
    expect(
      problems([state("gateway"), state("tokens", "idle"), state("dedup", "starting")]),
    ).toEqual([]);
  });

  it("is each component that is degraded, refuses or failed, with its own remedy or the usual one, and where to read on", () => {
    const found = problems([
      state("dedup", "degraded", { reason: "an archive cannot be read", remedy: "mount it" }),
      state("backups", "degraded", { reason: "the disk is full" }),
      state("odd", "failed"),
    ]);
    expect(found).toEqual([
      {
        part: "dedup",
        reason: "component dedup: an archive cannot be read",
        remedy: "mount it",
        link: "/api/v1/ready",
      },
      {
        part: "backups",
        reason: "component backups: the disk is full",
        remedy: expect.stringContaining("steward backup") as string,
        link: "/readyz?verbose=1",
      },
      {
        part: "odd",
        reason: "component odd: failed",
        remedy: expect.stringContaining("restart Steward") as string,
        link: "/readyz?verbose=1",
      },
    ]);
  });

  it("begins with the disk, and does not repeat what follows from it", () => {
    const stores = { ok: false, reason: "dedup: its disk is full" };
    expect(
      problems(
        [
          state("dedup", "degraded", { reason: "dedup: its disk is full" }),
          state("tokens", "degraded", { reason: "sealed" }),
        ],
        stores,
      ).map(({ part }) => part),
    ).toEqual(["state", "tokens"]);
  });

  it("leaves to the monitor what it judges itself: its collectors, and exports that fail", () => {
    expect(problems([state("monitor", "degraded"), state("telemetry", "degraded")])).toEqual([]);
    expect(problems([state("telemetry", "failed")]).map(({ part }) => part)).toEqual(["telemetry"]);
  });
});
