/** How old what a collector said is, and whether it should have run. */

/** `none`: it never succeeded. */
export type Freshness = "none" | "ok" | "warning" | "stale";

/** Intervals until what a collector said may be old, and until it is. */
const WARNING_AFTER = 2;
const STALE_AFTER = 5;
/** Intervals until a run is overdue. */
const OVERDUE_AFTER = 2;

/** By the age of the last success; undefined when there was none. */
export function freshnessOf(ageMs: number | undefined, intervalMs: number): Freshness {
  if (ageMs === undefined) return "none";
  if (intervalMs <= 0 || ageMs <= WARNING_AFTER * intervalMs) return "ok";
  return ageMs <= STALE_AFTER * intervalMs ? "warning" : "stale";
}

/** After this time without a success the levels of a collector are no longer true. */
export function staleAfterMs(intervalMs: number): number {
  return STALE_AFTER * intervalMs;
}

/** Whether the run after the one that ended at `lastFinishedMs` is overdue. */
export function isOverdue(
  nowMs: number,
  lastFinishedMs: number | undefined,
  intervalMs: number,
): boolean {
  return lastFinishedMs !== undefined && nowMs > lastFinishedMs + OVERDUE_AFTER * intervalMs;
}

/** Milliseconds until the next run, as far as the last one tells; 0 when it is due. */
export function nextRunInMs(
  nowMs: number,
  lastFinishedMs: number | undefined,
  intervalMs: number,
): number {
  return lastFinishedMs === undefined ? 0 : Math.max(0, lastFinishedMs + intervalMs - nowMs);
}
