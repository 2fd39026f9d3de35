import { describe, expect, it } from "vitest";
import { readinessOf, type ReadinessSources } from "../../src/daemon/readiness.ts";
import type { ComponentState } from "../../src/kernel/supervisor/component.ts";

const state = (
  name: string,
  phase: ComponentState["phase"] = "ready",
  reason?: string,
  readiness: ComponentState["readiness"] = "required",
): ComponentState => ({ name, phase, reason, readiness, crashes: 0, sinceMs: 0 });
const collected = {
  running: () => true,
  receivers: () => [],
  ready: () => ({ ok: true, reasons: [] }),
};
const waiting = {
  running: () => true,
  receivers: () => [],
  ready: () => ({ ok: false, reasons: ["starting: waiting for first run: a, b"] }),
};
const broken = { ...waiting, running: () => false };

function asked(
  states: readonly ComponentState[],
  monitor: ReadinessSources["monitor"] = collected,
  whole: readonly string[] = [],
) {
  const reasons = [
    ...whole,
    ...states
      .filter((each) => each.readiness === "required" && each.phase !== "ready")
      .map(({ name, reason, phase }) => `${name}: ${reason ?? phase}`),
  ];
  return readinessOf({
    supervisor: { states: () => states, ready: () => ({ ok: reasons.length === 0, reasons }) },
    monitor,
  });
}

describe("readiness", () => {
  it("waits for the ingress log before anything but the stop", () => {
    const log = (phase: ComponentState["phase"], reason?: string) => ({
      ...waiting,
      receivers: () => [state("ingress_wal", phase, reason)],
    });
    expect(asked([state("gateway")], log("degraded", "replaying")).reasons).toEqual([
      "ingress_wal: replaying",
    ]);
    expect(asked([state("gateway", "failed")], log("degraded", "full")).reasons).toEqual([
      "ingress_wal: full",
    ]);
    expect(asked([state("gateway")], log("starting")).reasons).toEqual(["ingress_wal: starting"]);
    expect(asked([], log("degraded", "draining"), ["stopping"]).reasons).toEqual(["stopping"]);
    expect(asked([state("gateway")], { ...log("ready"), ready: collected.ready })).toEqual({
      ok: true,
      reasons: [],
    });
  });

  it("is there when every required part runs and something was collected, or nothing is to be", () => {
    expect(asked([state("gateway"), state("dedup")])).toEqual({ ok: true, reasons: [] });
    expect(
      readinessOf({
        supervisor: { states: () => [], ready: () => ({ ok: true, reasons: [] }) },
        monitor: undefined,
      }).ok,
    ).toBe(true);
  });

  it.each([
    ["the process stops", [state("gateway", "degraded", "x")], waiting, ["stopping"], "stopping"],
    [
      "nothing was collected yet, whatever else is",
      [state("metrics", "degraded", "x"), state("admin", "starting")],
      waiting,
      ["starting"],
      "starting: waiting for first run: a, b",
    ],
    [
      "a listener has yet to open",
      [state("metrics", "starting"), state("admin", "idle"), state("dedup", "degraded", "ill")],
      collected,
      ["starting"],
      "starting: waiting for listener: metrics, admin",
    ],
    [
      "parts are broken",
      [state("metrics", "degraded", "127.0.0.1:1 is taken"), state("dedup", "failed")],
      collected,
      [],
      "component failure: metrics: 127.0.0.1:1 is taken; dedup: failed",
    ],
    [
      "another part has yet to start",
      [state("dedup-schedules", "starting")],
      collected,
      ["starting"],
      "starting",
    ],
  ] as const)("says that %s", (_what, states, monitor, whole, line) => {
    expect(asked(states, monitor, whole)).toEqual({ ok: false, reasons: [line] });
  });

  it("waits for the receivers of the monitor's thread, and ends when one cannot open its port", () => {
    const of = (receiver: ComponentState) => ({ ...collected, receivers: () => [receiver] });
    expect(asked([], of(state("stream", "starting"))).reasons).toEqual([
      "starting: waiting for listener: stream",
    ]);
    expect(asked([], of(state("webhook", "degraded", "127.0.0.1:1 is taken"))).reasons).toEqual([
      "component failure: webhook: 127.0.0.1:1 is taken",
    ]);
  });

  it("ends while the monitor's thread is broken, also before its first run", () => {
    expect(
      asked(
        [state("monitor", "degraded", "the thread monitor ended with code 1", "reported")],
        broken,
      ).reasons,
    ).toEqual(["component failure: monitor: the thread monitor ended with code 1"]);
  });

  it("does not close for a service that refuses because of what it stored", () => {
    expect(
      readinessOf({
        supervisor: {
          states: () => [state("dedup", "refusing", "dedup.mdb is damaged")],
          ready: () => ({ ok: true, reasons: [] }),
        },
        monitor: collected,
      }),
    ).toEqual({ ok: true, reasons: [] });
  });

  it("does not ask for what only reports: a sealed store, a network that fails", () => {
    expect(
      asked([
        state("tokens", "degraded", "sealed", "reported"),
        state("monitor", "degraded", "network home: unwell", "reported"),
      ]).ok,
    ).toBe(true);
  });
});
