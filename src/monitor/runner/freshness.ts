/** Staleness of a collector's data, and whether a run is overdue. */

/** `none` before the first success. */
export type Freshness = "none" | "ok" | "warning" | "stale";

/** Intervals after which data may be stale, and is stale. */
const WARNING_AFTER = 2;
const STALE_AFTER = 5;
const OVERDUE_AFTER = 2;

/** By milliseconds since the last success; undefined before the first. */
export function freshnessOf(ageMs: number | undefined, intervalMs: number): Freshness {
  if (ageMs === undefined) return "none";
  if (intervalMs <= 0 || ageMs <= WARNING_AFTER * intervalMs) return "ok";
  return ageMs <= STALE_AFTER * intervalMs ? "warning" : "stale";
}

/** Milliseconds without success after which gauges are no longer valid. */
export function staleAfterMs(intervalMs: number): number {
  return STALE_AFTER * intervalMs;
}

/** Whether the run after `lastFinishedMs` is overdue. */
export function isOverdue(
  nowMs: number,
  lastFinishedMs: number | undefined,
  intervalMs: number,
): boolean {
  return lastFinishedMs !== undefined && nowMs > lastFinishedMs + OVERDUE_AFTER * intervalMs;
}

/** Estimated milliseconds until the next run; 0 when due. */
export function nextRunInMs(
  nowMs: number,
  lastFinishedMs: number | undefined,
  intervalMs: number,
): number {
  return lastFinishedMs === undefined ? 0 : Math.max(0, lastFinishedMs + intervalMs - nowMs);
}
