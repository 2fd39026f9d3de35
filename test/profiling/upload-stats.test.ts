import { describe, expect, it } from "vitest";
import { createUploadStats } from "../../src/profiling/upload-stats.ts";
import { createManualClock } from "../kernel/supervisor/manual-clock.ts";

function setUp() {
  const clock = createManualClock();
  const written: string[] = [];
  const write = (row: { readonly name: string }, value: number, attributes: object): void =>
    void written.push(
      `${row.name.replace("svc.profiling.upload.", "")}${Object.values(attributes).map(String).join()}=${value}`,
    );
  return {
    clock,
    written,
    stats: createUploadStats(clock, { add: write, gauge: write, record: write }),
  };
}

describe("Upload statistics", () => {
  it("begin well and empty, and say so", () => {
    const { stats, written } = setUp();
    expect(stats.status()).toEqual({
      attempts: 0,
      failures: 0,
      consecutiveFailures: 0,
      healthy: true,
      lastDurationSeconds: 0,
      lastSuccessAtMs: undefined,
      lastFailureAtMs: undefined,
      lastErrorClass: undefined,
    });
    expect(written).toEqual(["consecutive_failures=0", "last_success=0"]);
  });

  it("are unwell from the third failure in a row to the next success, and keep when they last were", async () => {
    const { stats, clock, written } = setUp();
    for (const failure of ["timeout", "tls"] as const) stats.enter(250, failure);
    expect(stats.status()).toMatchObject({
      attempts: 2,
      failures: 2,
      consecutiveFailures: 2,
      healthy: true,
      lastErrorClass: "tls",
    });
    stats.enter(250, "other");
    const failedAtMs = clock.now();
    expect(stats.status()).toMatchObject({
      consecutiveFailures: 3,
      healthy: false,
      lastDurationSeconds: 0.25,
      lastFailureAtMs: failedAtMs,
    });
    await clock.advance(60_000);
    written.length = 0;
    stats.enter(1_500);
    expect(stats.status()).toEqual({
      attempts: 4,
      failures: 3,
      consecutiveFailures: 0,
      healthy: true,
      lastDurationSeconds: 1.5,
      lastSuccessAtMs: clock.now(),
      lastFailureAtMs: failedAtMs,
      lastErrorClass: "other",
    });
    expect(written).toEqual([
      "attempts=1",
      "duration=1.5",
      "consecutive_failures=0",
      `last_success=${clock.now() / 1_000}`,
    ]);
    stats.enter(10, "invalid");
    expect(written).toContain("failuresinvalid=1");
  });
});
