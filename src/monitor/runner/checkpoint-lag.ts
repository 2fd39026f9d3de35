/** How far behind the windows of a collector are (facts, monitor-api §1.3). */

/** Intervals that a mark may lag beyond the collector's own lag. */
const STUCK_AFTER = 3;

/** A mark and its distance from now. */
export interface CheckpointLag {
  /** Milliseconds since 1970. */
  readonly markMs: number;
  readonly lagMs: number;
  readonly stuck: boolean;
}

/** Undefined without a mark. */
export function checkpointLag(nowMs: number, markMs: number | undefined, { lagMs, intervalMs }: { readonly lagMs: number; readonly intervalMs: number }): CheckpointLag | undefined {
  if (markMs === undefined) return undefined;
  return { markMs, lagMs: nowMs - markMs, stuck: nowMs - markMs > lagMs + STUCK_AFTER * intervalMs };
}
