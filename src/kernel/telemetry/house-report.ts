/** Reporters of the house: what costs nothing to read is read just before a snapshot, and only then. */
import { availableParallelism } from "node:os";
import { PerformanceObserver } from "node:perf_hooks";
import type { Pool } from "../pool/types.ts";
import * as house from "./house-metrics.ts";
import type { ErrorClass, Signal } from "./status.ts";
import type { Telemetry } from "./telemetry.ts";
import type { Scope } from "./types.ts";

const MICROSECONDS = 1_000_000;
const MILLISECONDS = 1_000;

/** Reports the process and its runtime until disposed. */
export function reportProcess(scope: Scope, build: { readonly version: string }): Disposable {
  const pauses = { count: 0, seconds: 0 };
  const collector = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      pauses.count += 1;
      pauses.seconds += entry.duration / MILLISECONDS;
    }
  });
  collector.observe({ entryTypes: ["gc"] });
  const observer = scope.observe(() => {
    const cpu = process.cpuUsage();
    const memory = process.memoryUsage();
    scope.total(house.processCpuTime, cpu.user / MICROSECONDS, { "cpu.mode": "user" });
    scope.total(house.processCpuTime, cpu.system / MICROSECONDS, { "cpu.mode": "system" });
    scope.gauge(house.processUptime, process.uptime(), {});
    scope.gauge(house.up, 1, {});
    scope.gauge(house.buildInfo, 1, { version: build.version, "runtime.version": process.versions.node });
    scope.total(house.gcCount, pauses.count, {});
    scope.total(house.gcPauseTime, pauses.seconds, {});
    scope.gauge(house.maxProcs, availableParallelism(), {});
    scope.gauge(house.heapAlloc, memory.heapUsed, {});
    scope.gauge(house.heapSys, memory.heapTotal, {});
    scope.gauge(house.memorySys, memory.rss, {});
  });
  return {
    [Symbol.dispose]: () => {
      observer[Symbol.dispose]();
      collector.disconnect();
    },
  };
}

/** Reports a worker pool until disposed. */
export function reportPool(scope: Scope, pool: Pick<Pool, "status">): Disposable {
  return scope.observe(() => {
    const { threads, running, queued, limit, crashed } = pool.status();
    scope.gauge(house.poolThreads, threads, {});
    scope.gauge(house.poolRunning, running, {});
    scope.gauge(house.poolQueued, queued, {});
    scope.gauge(house.poolLimit, limit, {});
    scope.total(house.poolCrashes, crashed, {});
  });
}

/** Reports telemetry itself, from counters it keeps anyway, until disposed. */
export function reportTelemetry(scope: Scope, telemetry: Pick<Telemetry, "status">): Disposable {
  return scope.observe(() => {
    reportSeries(scope);
    reportDelivery(scope, telemetry);
  });
}

/** The metrics of this very report are left out, or each would make another. */
function reportSeries(scope: Scope): void {
  const { metrics, limitPerMetric } = scope.cardinality();
  const round = scope.sweep("telemetry.series");
  for (const { name, series, overflowing } of metrics) {
    if (name.startsWith("svc.series.") || series === 0) continue;
    round.gauge(house.seriesActive, series, { "metric.name": name });
    round.gauge(house.seriesOverflowing, overflowing ? 1 : 0, { "metric.name": name });
  }
  round.commit();
  if (limitPerMetric > 0) scope.gauge(house.seriesLimit, limitPerMetric, {});
}

function reportDelivery(scope: Scope, telemetry: Pick<Telemetry, "status">): void {
  const { ledger, logs } = telemetry.status();
  if (!ledger) return;
  const { signals } = ledger;
  scope.total(house.exportDatapoints, signals.metrics.items, {});
  scope.total(house.exportLogRecords, signals.logs.items, {});
  for (const signal of ["metrics", "logs"] satisfies Signal[]) {
    const byClass = Object.entries(signals[signal].failuresByClass) as [ErrorClass, number][];
    for (const [errorClass, failures] of byClass) scope.total(house.exportFailures, failures, { "error.type": errorClass, signal });
  }
  scope.total(house.processorDropped, ledger.logs.droppedQueueFull + logs.dropped, { signal: "logs", reason: "queue_full" });
  scope.gauge(house.processorCapacity, logs.capacity, { signal: "logs" });
  scope.gauge(house.processorSize, logs.held + ledger.logs.held, { signal: "logs" });
}
