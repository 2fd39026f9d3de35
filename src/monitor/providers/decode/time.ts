/**
 * Times as control planes write them: RFC 3339 with any offset, 0 to 9 digits of a fraction, and
 * two ways to say "none".
 */

const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

// The zero time of Go is the first instant of the year 1; west of Greenwich it is written with the
// year 0.
const ZERO = /^000[01]-/;

/**
 * Milliseconds since 1970; undefined for an empty text, the zero time and what is no time. Never
 * throws.
 */
export function timeMs(value: unknown): number | undefined {
  if (typeof value !== "string" || !RFC_3339.test(value) || ZERO.test(value)) return undefined;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? undefined : ms;
}

/**
 * Whether it is the zero time, which says something else than `null`: Headscale refuses keys that
 * have it.
 */
export function isZeroTime(value: unknown): boolean {
  return typeof value === "string" && RFC_3339.test(value) && ZERO.test(value);
}

/**
 * Whole seconds, UTC, as the log endpoints want them. Rounded down, so that windows that touch
 * still do.
 */
export function wholeSeconds(ms: number): string {
  return new Date(Math.floor(ms / 1_000) * 1_000).toISOString().replace(".000Z", "Z");
}
