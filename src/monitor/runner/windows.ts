/** How windows follow each other. */
import type { WindowRule } from "../collectors/collector.ts";
import type { TimeWindow } from "../providers/provider.ts";

/**
 * The next window to read, or undefined when there is none yet. `positionMs` is how far the last
 * one came, undefined before the first.
 */
export function nextWindow(
  rule: WindowRule,
  nowMs: number,
  positionMs: number | undefined,
): TimeWindow | undefined {
  const latestMs = nowMs - rule.lagMs;
  const fromMs = positionMs ?? latestMs - rule.initialLookbackMs;
  if (latestMs <= fromMs) return undefined;
  const toMs = rule.maxWindowMs > 0 ? Math.min(latestMs, fromMs + rule.maxWindowMs) : latestMs;
  // After the cap: what is read again must not keep the window from moving on.
  return { fromMs: positionMs === undefined ? fromMs : fromMs - rule.overlapMs, toMs };
}

/**
 * How far a window came that was read: its end unless the collector says otherwise; a window with
 * an overlap is always whole.
 */
export function reachedBy(rule: WindowRule, window: TimeWindow, told: number | undefined): number {
  if (rule.overlapMs > 0 || told === undefined || told === 0) return window.toMs;
  return told;
}
