import { describe, expect, it } from "vitest";
import { followDelivery } from "../../../src/daemon/status/delivery.ts";
import { followRuntime, processReadings } from "../../../src/daemon/status/runtime.ts";
import { SAMPLE_MS, SAMPLES, takeSamples } from "../../../src/daemon/status/samples.ts";
import { Signal } from "../../../src/gen/steward/monitor/v1/export_pb.ts";
import {
  emptySignalLedger,
  type LedgerView,
  type Observed,
  type SignalLedger,
} from "../../../src/kernel/telemetry/status.ts";
import type { Telemetry } from "../../../src/kernel/telemetry/telemetry.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";

describe("samples", () => {
  it("begin with one at once, come every ten seconds, and keep the newest sixty", async () => {
    const clock = createManualClock();
    const samples = takeSamples<number>(clock, (before) => (before ?? -1) + 1);
    expect(samples.list()).toEqual([0]);
    await clock.advance(SAMPLE_MS * 3);
    expect(samples.list()).toEqual([0, 1, 2, 3]);
    await clock.advance(SAMPLE_MS * 100);
    expect([samples.list().length, samples.list()[0], samples.list().at(-1)]).toEqual([
      SAMPLES,
      44,
      103,
    ]);
    samples[Symbol.dispose]();
    expect(clock.timers()).toBe(0);
  });
});

/** Telemetry whose books a test writes. */
function books() {
  let hear: (observed: readonly Observed[]) => void = () => undefined;
  let signals: Partial<Record<"metrics" | "logs" | "traces", Partial<SignalLedger>>> | undefined;
  const ledger = (): LedgerView | undefined =>
    signals &&
    ({
      signals: Object.fromEntries(
        ["metrics", "logs", "traces"].map((name) => [
          name,
          { ...emptySignalLedger, ...signals?.[name as "metrics"] },
        ]),
      ),
    } as unknown as LedgerView);
  const telemetry = {
    status: () => ({ ledger: ledger() }),
    onObserved: (heard: typeof hear) => {
      hear = heard;
      return { [Symbol.dispose]: () => undefined };
    },
  } as unknown as Pick<Telemetry, "status" | "onObserved">;
  return {
    telemetry,
    observe: (observed: Observed) => hear([observed]),
    write: (next: typeof signals) => void (signals = next),
  };
}

describe("delivery", () => {
  it("has three rows of zeros while nothing exports", () => {
    const view = followDelivery(createManualClock(), books().telemetry);
    expect(view.delivery().map(({ signal }) => signal)).toEqual([
      Signal.METRICS,
      Signal.LOGS,
      Signal.TRACES,
    ]);
    for (const row of view.delivery())
      expect(row).toMatchObject({
        exports: 0n,
        failures: 0n,
        consecutiveFailures: 0,
        lastDurationMs: 0,
        failing: false,
        lastErrorClass: "",
      });
  });

  it("says what failed last and when, is failing from the third failure in a row, and counts a partial success as an export", () => {
    const { telemetry, write, observe } = books();
    const view = followDelivery(createManualClock(), telemetry);
    write({
      metrics: {
        requests: 9,
        failures: 3,
        consecutiveFailures: 3,
        lastFailureClass: "unavailable",
        lastFailureMs: 2_000,
        lastSuccessMs: 1_000,
      },
      logs: { requests: 1, partialSuccesses: 1, lastSuccessMs: 5_000 },
      traces: { consecutiveFailures: 2, failures: 2, requests: 2 },
    });
    observe({ of: "export", signal: "metrics", outcome: "failure", seconds: 0.0421 });
    const [metrics, logs, traces] = view.delivery();
    expect(metrics).toMatchObject({
      exports: 9n,
      failures: 3n,
      failing: true,
      lastErrorClass: "unavailable",
      lastDurationMs: 42,
      lastFailureAt: { seconds: 2n },
      lastSuccessAt: { seconds: 1n },
    });
    expect(logs).toMatchObject({
      exports: 1n,
      failures: 0n,
      failing: false,
      lastErrorClass: "partial_success",
    });
    expect(traces).toMatchObject({ failing: false });
  });

  it("tells throughput of what was handed over, delivered or not, a second", async () => {
    const clock = createManualClock();
    const { telemetry, write } = books();
    const view = followDelivery(clock, telemetry);
    write({ metrics: { items: 700, itemsLost: 300 }, logs: { items: 50 } });
    await clock.advance(SAMPLE_MS);
    expect(view.throughput()).toEqual({
      metricPoints: 1_000n,
      logRecords: 50n,
      metricPointsPerSec: 100,
      logRecordsPerSec: 5,
      metricPointsPerSecSeries: [0, 100],
      logRecordsPerSecSeries: [0, 5],
    });
    // The telemetry thread began anew.
    write({ metrics: { items: 5 } });
    await clock.advance(SAMPLE_MS);
    expect(view.throughput()).toMatchObject({ metricPoints: 5n, metricPointsPerSec: 0 });
  });
});

describe("the runtime", () => {
  it("has its figures as of now and their curves", async () => {
    const clock = createManualClock();
    let collections = 4;
    const runtime = followRuntime(clock, {
      heapBytes: () => 1_572_864,
      workers: () => 3,
      collections: () => collections,
      uptimeMs: () => 0,
    });
    collections = 24;
    await clock.advance(SAMPLE_MS);
    expect(runtime.read()).toMatchObject({
      workers: 3,
      heapAlloc: "1.5 MiB",
      heapAllocBytes: 1_572_864n,
      numGc: 24n,
      gcRateSeries: [0, 2],
      workersSeries: [3, 3],
      heapAllocSeries: [1_572_864n, 1_572_864n],
    });
    expect(runtime.read().maxProcs).toBeGreaterThan(0);
  });

  it("is read from this process", () => {
    using readings = processReadings();
    expect(readings.heapBytes()).toBeGreaterThan(1_000_000);
    expect([readings.workers(), readings.collections()]).toEqual([1, 0]);
  });
});
