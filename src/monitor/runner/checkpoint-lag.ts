/** How far behind the windows of a collector are. */

/**
 * Intervals that a mark may lag beyond the collector's own lag, and go without gaining on the
 * clock.
 */
const STUCK_AFTER = 3;

/** A mark and its distance from now. */
export interface CheckpointLag {
  /** Milliseconds since 1970. */
  readonly markMs: number;
  readonly lagMs: number;
  readonly stuck: boolean;
}

/** What is known of the windows beside their mark; in milliseconds. */
export interface LagFacts {
  /** Newer records than this are never asked for. */
  readonly lagMs: number;
  readonly intervalMs: number;
  /** Since a window last brought the mark closer to now, or since the start. */
  readonly sinceGainMs: number;
}

/**
 * Undefined without a mark. A collector that catches up with a long lookback or after a stop is
 * behind, but not stuck.
 */
export function checkpointLag(
  nowMs: number,
  markMs: number | undefined,
  { lagMs, intervalMs, sinceGainMs }: LagFacts,
): CheckpointLag | undefined {
  if (markMs === undefined) return undefined;
  const late = nowMs - markMs > lagMs + STUCK_AFTER * intervalMs;
  return { markMs, lagMs: nowMs - markMs, stuck: late && sinceGainMs > STUCK_AFTER * intervalMs };
}
