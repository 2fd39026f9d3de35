/**
 * Converts model values to metric values: times to whole Unix seconds, ages to non-negative
 * seconds, empty texts to undefined.
 */

export const DAY_MS = 86_400_000;

export function unixSeconds(ms: number): number {
  return Math.floor(ms / 1_000);
}

/** Age in seconds; 0 for times in the future, since clocks differ. */
export function secondsSince(thenMs: number, nowMs: number): number {
  return Math.max(0, (nowMs - thenMs) / 1_000);
}

/** The model's empty text means unknown, so the attribute is omitted. */
export function known(text: string): string | undefined {
  return text === "" ? undefined : text;
}

/** The UTC day, e.g. `2026-12-01`; `an unknown day` for a time that no Date can hold. */
export function dayOf(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? "an unknown day" : date.toISOString().slice(0, 10);
}
