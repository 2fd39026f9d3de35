/** The browser's time, by its monotonic clock: a laptop that slept does not count backwards. */

/** Milliseconds since 1970. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}
