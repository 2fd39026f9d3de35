/** How far a collector's windows lag behind. */

/** Intervals of lag beyond the configured one, without progress, after which windows are stuck. */
const STUCK_AFTER = 3;

/** A position and its distance from now. */
export interface CheckpointLag {
  /** Milliseconds since 1970. */
  readonly markMs: number;
  readonly lagMs: number;
  readonly stuck: boolean;
}

/** In milliseconds. */
export interface LagFacts {
  /** Configured lag: newer records are not requested. */
  readonly lagMs: number;
  readonly intervalMs: number;
  /** Since a window last reduced the lag, or since the start. */
  readonly sinceGainMs: number;
}

/**
 * Undefined without a position. A collector that catches up after a stop is behind, but not stuck.
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
