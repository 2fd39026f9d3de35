/** Memory and activity of the process for the status: current values and their history. */
import { availableParallelism } from "node:os";
import { PerformanceObserver } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RuntimeSchema } from "../../gen/steward/monitor/v1/process_pb.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { watchThreads } from "../../kernel/telemetry/report/runtime-report.ts";
import { humanBytes } from "../../monitor/status/human.ts";
import { takeSamples } from "./samples.ts";

const MILLISECONDS = 1_000;

/** Readings of the process. */
export interface RuntimeReadings {
  /** Used heap of the main thread in bytes. */
  readonly heapBytes: () => number;
  /** Threads that run JavaScript. */
  readonly workers: () => number;
  /** Garbage collections since the start. */
  readonly collections: () => number;
  /** Milliseconds since the process began. */
  readonly uptimeMs: () => number;
}

/** Readings of this process until disposed. Threads started earlier are not counted. */
export function processReadings(): RuntimeReadings & Disposable {
  const threads = watchThreads();
  let collections = 0;
  const collector = new PerformanceObserver((list) => {
    collections += list.getEntries().length;
  });
  collector.observe({ entryTypes: ["gc"] });
  return {
    // Not process.memoryUsage(), which fails when no file can be opened.
    heapBytes: () => getHeapStatistics().used_heap_size,
    workers: () => threads.count(),
    collections: () => collections,
    uptimeMs: () => process.uptime() * MILLISECONDS,
    [Symbol.dispose]() {
      collector.disconnect();
      threads[Symbol.dispose]();
    },
  };
}

/** Samples the readings until disposed. */
export function followRuntime(
  clock: Clock,
  readings: RuntimeReadings,
): Disposable & { read(): MessageInitShape<typeof RuntimeSchema> } {
  const samples = takeSamples<{
    readonly atMs: number;
    readonly heapBytes: number;
    readonly workers: number;
    readonly collections: number;
    readonly rate: number;
  }>(clock, (before) => {
    const now = {
      atMs: clock.monotonic(),
      heapBytes: readings.heapBytes(),
      workers: readings.workers(),
      collections: readings.collections(),
    };
    return {
      ...now,
      rate:
        before === undefined
          ? 0
          : ((now.collections - before.collections) * MILLISECONDS) /
            Math.max(1, now.atMs - before.atMs),
    };
  });
  return {
    read() {
      const heapBytes = readings.heapBytes();
      const taken = samples.list();
      return {
        maxProcs: availableParallelism(),
        workers: readings.workers(),
        numGc: BigInt(readings.collections()),
        heapAlloc: humanBytes(heapBytes),
        heapAllocBytes: BigInt(heapBytes),
        gcRateSeries: taken.map(({ rate }) => rate),
        workersSeries: taken.map(({ workers }) => workers),
        heapAllocSeries: taken.map((sample) => BigInt(sample.heapBytes)),
      };
    },
    [Symbol.dispose]: () => samples[Symbol.dispose](),
  };
}
