/** Reports telemetry itself: live series, deliveries, queues and the pull endpoint. */
import * as self from "./self-metrics.ts";
import type { SeriesFigures, Scope } from "../types.ts";
import type { OutboxStatus } from "../writer/outbox.ts";
import { SERIES_PREFIX } from "../series/cardinality-history.ts";
import type {
  ErrorClass,
  LedgerView,
  Observed,
  PullOutcome,
  PullRejection,
  PullView,
} from "../status.ts";
import { signals } from "../status.ts";
import type { Telemetry } from "../telemetry.ts";
import type { QueueStatus } from "../../async/queue-count.ts";

export type ReportedTelemetry = Pick<Telemetry, "status" | "onObserved">;

/**
 * Reports telemetry in the process's scope, including the series of scopes of other threads that
 * share its labels, until disposed.
 */
export function reportTelemetry(scope: Scope, telemetry: ReportedTelemetry): Disposable {
  const series = reportSeries(scope, () => telemetry.status().ledger?.others.series ?? []);
  const pulled = { inFlight: 0 };
  const delivery = scope.observe(() => {
    const { ledger, logs, spans, suppressed } = telemetry.status();
    if (!ledger) return;
    reportDelivery(scope, ledger);
    for (const { signal, errorClass, lines } of suppressed)
      scope.total(self.exportSuppressed, lines, { signal, "error.type": errorClass });
    reportQueue(scope, "logs", [logs, ledger.others.logs], ledger.logs);
    reportQueue(scope, "traces", [spans, ledger.others.traces], ledger.traces);
    if (ledger.pull) reportPull(scope, ledger.pull, pulled);
  });
  const observed = telemetry.onObserved((all) =>
    all.forEach((each) => recordObserved(scope, each)),
  );
  return {
    [Symbol.dispose]: () => {
      for (const report of [series, delivery, observed]) report[Symbol.dispose]();
    },
  };
}

/**
 * Reports a scope's own live series in that scope until disposed; for each scope with its own
 * labels, in any thread. `more`: series of scopes that have the same labels.
 */
export function reportSeries(
  scope: Scope,
  more: () => readonly SeriesFigures[] = () => [],
): Disposable {
  return scope.observe(() => sweepSeries(scope, more()));
}

/** Excludes the metrics of this report itself, or each would create another. */
function sweepSeries(scope: Scope, more: readonly SeriesFigures[]): void {
  const { metrics, limitPerMetric } = scope.cardinality();
  const names = new Map<string, { readonly series: number; readonly overflowing: boolean }>();
  const groups = new Map<string, number>();
  for (const { name, group, series, overflowing } of [...metrics, ...more]) {
    if (name.startsWith(SERIES_PREFIX) || series === 0) continue;
    const others = names.get(name);
    names.set(name, {
      series: series + (others?.series ?? 0),
      overflowing: overflowing || others?.overflowing === true,
    });
    groups.set(group, (groups.get(group) ?? 0) + series);
  }
  const round = scope.sweep("telemetry.series");
  for (const [name, { series, overflowing }] of names) {
    round.gauge(self.seriesActive, series, { "metric.name": name });
    round.gauge(self.seriesOverflowing, overflowing ? 1 : 0, { "metric.name": name });
  }
  for (const [group, series] of groups)
    round.gauge(self.seriesByGroup, series, { "metric.group": group });
  round.commit();
  if (limitPerMetric > 0) scope.gauge(self.seriesLimit, limitPerMetric, {});
}

function recordObserved(scope: Scope, observed: Observed): void {
  if (observed.of === "export")
    scope.record(self.exportDuration, observed.seconds, {
      signal: observed.signal,
      outcome: observed.outcome,
    });
  else scope.record(self.pullDuration, observed.seconds, { outcome: observed.outcome });
}

function reportDelivery(scope: Scope, ledger: LedgerView): void {
  scope.total(self.exportDatapoints, ledger.signals.metrics.items, {});
  scope.total(self.exportLogRecords, ledger.signals.logs.items, {});
  scope.total(self.exportSpans, ledger.signals.traces.items, {});
  for (const signal of signals) {
    const { failuresByClass, partialSuccesses, itemsLost, itemsRejected } = ledger.signals[signal];
    const byClass = Object.entries(failuresByClass) as [ErrorClass, number][];
    for (const [errorClass, failures] of byClass)
      scope.total(self.exportFailures, failures, { "error.type": errorClass, signal });
    if (partialSuccesses > 0)
      scope.total(self.exportFailures, partialSuccesses, {
        "error.type": "partial_success",
        signal,
      });
    if (itemsLost > 0) scope.total(self.exportLost, itemsLost, { signal, reason: "failed" });
    if (itemsRejected > 0)
      scope.total(self.exportLost, itemsRejected, { signal, reason: "rejected" });
  }
  for (const field of ["body", "attribute"] as const) {
    scope.total(self.logTruncated, ledger.cut[field].records, { field });
    scope.total(self.logTruncatedBytes, ledger.cut[field].bytes, { field });
  }
}

function reportPull(scope: Scope, pull: PullView, previous: { inFlight: number }): void {
  for (const [outcome, requests] of Object.entries(pull.requests) as [PullOutcome, number][])
    scope.total(self.pullRequests, requests, { outcome });
  for (const [reason, requests] of Object.entries(pull.rejected) as [PullRejection, number][])
    scope.total(self.pullRejected, requests, { reason });
  scope.total(
    self.pullGatherErrors,
    Object.values(pull.gatherErrors).reduce((sum, count) => sum + count, 0),
    {},
  );
  scope.add(self.pullInFlight, pull.inFlight - previous.inFlight, {});
  previous.inFlight = pull.inFlight;
}

/** A queue has one part in each writing thread and one in the telemetry thread. */
function reportQueue(
  scope: Scope,
  signal: "logs" | "traces",
  writers: readonly OutboxStatus[],
  exporter: QueueStatus,
): void {
  if (exporter.capacity === 0) return;
  const of = (name: keyof OutboxStatus): number =>
    writers.reduce((sum, writer) => sum + writer[name], 0);
  scope.total(self.processorDropped, exporter.dropped + of("dropped"), {
    signal,
    reason: "queue_full",
  });
  scope.total(self.processorDropped, of("lost"), { signal, reason: "thread_lost" });
  scope.gauge(self.processorCapacity, of("capacity") + exporter.capacity, { signal });
  scope.gauge(self.processorSize, of("held") + exporter.held, { signal });
}
