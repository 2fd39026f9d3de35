/**
 * How model values are shown in series: times as whole unix seconds, ages that are never negative,
 * empty texts as nothing.
 */

/** Milliseconds of a day. */
export const DAY_MS = 86_400_000;

/** A time as metrics show it. */
export function unixSeconds(ms: number): number {
  return Math.floor(ms / 1_000);
}

/** How long ago, in seconds; 0 for what lies ahead, since clocks differ. */
export function secondsSince(thenMs: number, nowMs: number): number {
  return Math.max(0, (nowMs - thenMs) / 1_000);
}

/** The model's empty text is "not known": as an attribute it is left out. */
export function known(text: string): string | undefined {
  return text === "" ? undefined : text;
}

/**
 * The day of a time, e.g. `2026-12-01`; the times of a control plane may lie beyond what a date
 * holds.
 */
export function dayOf(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? "an unknown day" : date.toISOString().slice(0, 10);
}
