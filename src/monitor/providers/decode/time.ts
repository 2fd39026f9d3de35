/**
 * Times of control planes: RFC 3339 with any offset and 0 to 9 fractional digits, plus two ways to
 * write "none".
 */

const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

// Go's zero time is the first instant of year 1; west of Greenwich it is written with year 0.
const ZERO = /^000[01]-/;

/**
 * Milliseconds since 1970; undefined for an empty text, the zero time and anything invalid. Never
 * throws.
 */
export function timeMs(value: unknown): number | undefined {
  if (typeof value !== "string" || !RFC_3339.test(value) || ZERO.test(value)) return undefined;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Whether it is Go's zero time, which differs from `null`: Headscale rejects keys that have it. */
export function isZeroTime(value: unknown): boolean {
  return typeof value === "string" && RFC_3339.test(value) && ZERO.test(value);
}

/**
 * Whole seconds in UTC, as the log endpoints expect. Rounded down, so that adjacent windows stay
 * adjacent.
 */
export function wholeSeconds(ms: number): string {
  return new Date(Math.floor(ms / 1_000) * 1_000).toISOString().replace(".000Z", "Z");
}
