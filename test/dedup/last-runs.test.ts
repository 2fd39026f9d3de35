import { describe, expect, it } from "vitest";
import { createLastRuns } from "../../src/dedup/last-runs.ts";

describe("the last runs", () => {
  it("name a failure until a later run of the same type completes", () => {
    const runs = createLastRuns();
    const note = (
      type: string,
      status: "running" | "completed" | "failed" | "cancelled",
      error?: string,
    ) => {
      runs.note({ id: "j", type, status, error });
      return runs.failed();
    };
    expect(note("sync", "running")).toEqual([]);
    expect(note("sync", "failed", "gone")).toEqual([{ type: "sync", jobId: "j", error: "gone" }]);
    expect(note("sync", "running")).toHaveLength(1);
    expect(note("sync", "cancelled")).toHaveLength(1);
    expect(note("analysis", "failed")).toHaveLength(2);
    expect(note("sync", "completed")).toMatchObject([
      { type: "analysis", error: "the log says why" },
    ]);
  });
});
