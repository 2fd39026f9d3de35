/** Reports the process and its runtime, read just before a snapshot. */
import { availableParallelism } from "node:os";
import { PerformanceObserver } from "node:perf_hooks";
import { GCProfiler, getHeapStatistics } from "node:v8";
import type { Worker } from "node:worker_threads";
import * as self from "./self-metrics.ts";
import { watchOpenFiles } from "./open-files.ts";
import type { Row, Scope } from "../types.ts";

const MICROSECONDS = 1_000_000;
const MILLISECONDS = 1_000;
/** Fixed, so that a clock step does not look like a restart. */
const STARTED_SECONDS = performance.timeOrigin / MILLISECONDS;
/** The profiler keeps this many collections before their sizes are summed. */
const MAX_COLLECTIONS = 100;

/** Until disposed. */
export function reportProcess(scope: Scope, build: { readonly version: string }): Disposable {
  const collections = watchCollections();
  const threads = watchThreads();
  const openFiles = watchOpenFiles();
  const observer = scope.observe(() => {
    const cpu = process.cpuUsage();
    const heap = getHeapStatistics();
    const residentBytes = readResidentBytes();
    const { count, seconds, allocated } = collections.read();
    scope.total(self.processCpuTime, cpu.user / MICROSECONDS, { "cpu.mode": "user" });
    scope.total(self.processCpuTime, cpu.system / MICROSECONDS, { "cpu.mode": "system" });
    scope.gauge(self.processUptime, process.uptime(), {});
    scope.gauge(self.processStartTime, STARTED_SECONDS, {});
    gaugeOrNone(scope, self.processResidentMemory, residentBytes);
    gaugeOrNone(scope, self.memorySys, residentBytes);
    if (openFiles !== undefined) {
      gaugeOrNone(scope, self.processOpenFds, openFiles.count());
      if (openFiles.limit !== undefined) scope.gauge(self.processMaxFds, openFiles.limit, {});
    }
    scope.gauge(self.up, 1, {});
    scope.gauge(self.buildInfo, 1, { version: build.version, "runtime.version": process.version });
    scope.total(self.gcCount, count, {});
    scope.total(self.gcPauseTime, seconds, {});
    scope.gauge(
      self.gcCpuFraction,
      Math.min(1, (seconds * MICROSECONDS) / Math.max(1, cpu.user + cpu.system)),
      {},
    );
    scope.total(self.memoryAlloc, allocated, {});
    scope.gauge(self.maxProcs, availableParallelism(), {});
    scope.gauge(self.workers, threads.count(), {});
    scope.gauge(self.heapAlloc, heap.used_heap_size, {});
    scope.gauge(self.heapInuse, heap.total_physical_size, {});
    scope.gauge(self.heapSys, heap.total_heap_size, {});
  });
  return {
    [Symbol.dispose]: () => {
      for (const each of [observer, collections, threads]) each[Symbol.dispose]();
    },
  };
}

/** Undefined when Linux cannot read it from /proc, e.g. while no more file can be opened. */
function readResidentBytes(): number | undefined {
  try {
    return process.memoryUsage.rss();
  } catch {
    return undefined;
  }
}

/** Without a value the series ends, so that no old one is exported. */
function gaugeOrNone(scope: Scope, row: Row<never, "gauge">, value: number | undefined): void {
  if (value === undefined) scope.end(row, {});
  else scope.gauge(row, value, {});
}

/** Counts the main thread and its live workers; workers started before are not counted. */
export function watchThreads(): Disposable & { count(): number } {
  let living = 1;
  const begun = (worker: Worker): void => {
    living += 1;
    worker.once("exit", () => {
      living -= 1;
    });
  };
  process.on("worker", begun);
  return { count: () => living, [Symbol.dispose]: () => void process.off("worker", begun) };
}

/**
 * Counts garbage collections of this thread and their time, and from heap sizes the bytes
 * allocated: the size before each collection minus the size after the previous one.
 */
function watchCollections(): Disposable & {
  read(): { readonly count: number; readonly seconds: number; readonly allocated: number };
} {
  const total = { count: 0, seconds: 0, allocated: 0 };
  let left = getHeapStatistics().used_heap_size;
  let unread = 0;
  let profiler = new GCProfiler();
  profiler.start();
  const add = (): void => {
    unread = 0;
    for (const { beforeGC, afterGC } of profiler.stop()?.statistics ?? []) {
      total.allocated += Math.max(0, beforeGC.heapStatistics.usedHeapSize - left);
      left = afterGC.heapStatistics.usedHeapSize;
    }
    profiler = new GCProfiler();
    profiler.start();
  };
  const collector = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      total.count += 1;
      total.seconds += duration / MILLISECONDS;
      unread += 1;
    }
    if (unread >= MAX_COLLECTIONS) add();
  });
  collector.observe({ entryTypes: ["gc"] });
  return {
    read() {
      add();
      return { ...total };
    },
    [Symbol.dispose]() {
      collector.disconnect();
      profiler.stop();
    },
  };
}
