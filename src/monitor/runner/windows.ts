/** Computes consecutive windows. */
import type { WindowRule } from "../collectors/collector.ts";
import type { TimeWindow } from "../providers/model.ts";

/**
 * The next window, or undefined when it is not due. `positionMs` is the end of the last one,
 * undefined before the first.
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
  // The overlap is applied after the cap, so that it cannot stop progress.
  return { fromMs: positionMs === undefined ? fromMs : fromMs - rule.overlapMs, toMs };
}

/** The rule with its overlap shortened: nothing before `overlapFromMs` is read again. */
export function shortenOverlap(
  rule: WindowRule,
  {
    nowMs,
    positionMs,
    overlapFromMs,
  }: {
    readonly nowMs: number;
    readonly positionMs: number | undefined;
    readonly overlapFromMs: number | undefined;
  },
): WindowRule {
  // A time in the future was stored under a wrong clock.
  if (positionMs === undefined || overlapFromMs === undefined || overlapFromMs > nowMs) return rule;
  const longestMs = Math.max(0, positionMs - overlapFromMs);
  return { ...rule, overlapMs: Math.min(rule.overlapMs, longestMs) };
}

/**
 * Position reached by a window: its end unless the collector reports otherwise. A window with an
 * overlap is always complete.
 */
export function reachedBy(
  rule: WindowRule,
  window: TimeWindow,
  reportedMs: number | undefined,
): number {
  if (rule.overlapMs > 0 || reportedMs === undefined || reportedMs === 0) return window.toMs;
  return reportedMs;
}
