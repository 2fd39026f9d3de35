/** Reporters of the house: what costs nothing to read is read just before a snapshot, and only then. */
import { availableParallelism } from "node:os";
import { PerformanceObserver } from "node:perf_hooks";
import type { Pool } from "../pool/types.ts";
import * as house from "./house-metrics.ts";
import type { OutboxStatus } from "./outbox.ts";
import type { ErrorClass, QueueView } from "./status.ts";
import { signals } from "./status.ts";
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
  const { ledger, logs, spans } = telemetry.status();
  if (!ledger) return;
  scope.total(house.exportDatapoints, ledger.signals.metrics.items, {});
  scope.total(house.exportLogRecords, ledger.signals.logs.items, {});
  scope.total(house.exportSpans, ledger.signals.traces.items, {});
  for (const signal of signals) {
    const { failuresByClass, partialSuccesses, itemsLost, itemsRejected } = ledger.signals[signal];
    const byClass = Object.entries(failuresByClass) as [ErrorClass, number][];
    for (const [errorClass, failures] of byClass) scope.total(house.exportFailures, failures, { "error.type": errorClass, signal });
    if (partialSuccesses > 0) scope.total(house.exportFailures, partialSuccesses, { "error.type": "partial_success", signal });
    if (itemsLost > 0) scope.total(house.exportLost, itemsLost, { signal, reason: "failed" });
    if (itemsRejected > 0) scope.total(house.exportLost, itemsRejected, { signal, reason: "rejected" });
  }
  reportQueue(scope, "logs", logs, ledger.logs);
  reportQueue(scope, "traces", spans, ledger.traces);
}

/** A queue has two parts, one in each thread. */
function reportQueue(scope: Scope, signal: "logs" | "traces", here: OutboxStatus, there: QueueView): void {
  if (there.capacity === 0) return;
  scope.total(house.processorDropped, there.droppedQueueFull + here.dropped, { signal, reason: "queue_full" });
  scope.total(house.processorDropped, here.lost, { signal, reason: "thread_lost" });
  scope.gauge(house.processorCapacity, here.capacity + there.capacity, { signal });
  scope.gauge(house.processorSize, here.held + there.held, { signal });
}
