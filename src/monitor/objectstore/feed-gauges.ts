/**
 * Gauges of object-store feeds. A network may have several and the metrics do not distinguish them,
 * so gauges cover all feeds.
 */
import type { Scope, Sweep } from "../../kernel/telemetry/types.ts";
import {
  objectstoreBacklog,
  objectstoreCursorAge,
  objectstoreDiscoveredNewestAge,
  objectstoreGapHealthy,
  objectstoreGapOldestAge,
  objectstoreGaps,
  objectstorePendingOldestAge,
  objectstoreScanTruncated,
} from "../catalogue/object-store.ts";

/** Gauges of one feed after a run. */
export interface FeedLevels {
  readonly backlog: number;
  readonly cursorMs: number | undefined;
  /** Newest time among the recognised keys. */
  readonly newestMs: number | undefined;
  readonly pendingOldestMs: number | undefined;
  readonly gaps: number;
  readonly gapOldestMs: number | undefined;
  readonly truncated: boolean;
}

// Keyed by scope, not by name: the same network may run twice in a process, as in tests.
const feedsByScope = new WeakMap<Scope, Map<string, FeedLevels>>();
const SECOND_MS = 1_000;

/** Sets the gauges of all feeds after the run of one. */
export function setFeedGauges(
  scope: Scope,
  sweep: Pick<Sweep, "gauge">,
  feed: string,
  levels: FeedLevels,
  nowMs: number,
): void {
  const feeds = feedsByScope.get(scope) ?? new Map<string, FeedLevels>();
  feedsByScope.set(scope, feeds.set(feed, levels));
  const all = [...feeds.values()];
  const ages = (of: (each: FeedLevels) => number | undefined): number[] =>
    all.flatMap((each) => of(each) ?? []).map((ms) => Math.max(0, nowMs - ms) / SECOND_MS);
  const sum = (of: (each: FeedLevels) => number): number =>
    all.reduce((total, each) => total + of(each), 0);
  sweep.gauge(
    objectstoreBacklog,
    sum(({ backlog }) => backlog),
    {},
  );
  sweep.gauge(
    objectstoreGaps,
    sum(({ gaps }) => gaps),
    {},
  );
  sweep.gauge(objectstoreGapHealthy, all.every(({ gaps }) => gaps === 0) ? 1 : 0, {});
  sweep.gauge(objectstoreGapOldestAge, Math.max(0, ...ages(({ gapOldestMs }) => gapOldestMs)), {});
  sweep.gauge(
    objectstorePendingOldestAge,
    Math.max(0, ...ages(({ pendingOldestMs }) => pendingOldestMs)),
    {},
  );
  sweep.gauge(objectstoreScanTruncated, all.some(({ truncated }) => truncated) ? 1 : 0, {});
  const newest = ages(({ newestMs }) => newestMs);
  sweep.gauge(
    objectstoreDiscoveredNewestAge,
    newest.length < all.length ? -1 : Math.max(...newest),
    {},
  );
  const cursors = ages(({ cursorMs }) => cursorMs);
  if (cursors.length > 0) sweep.gauge(objectstoreCursorAge, Math.max(...cursors), {});
}
