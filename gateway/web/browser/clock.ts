/**
 * The server's time as its newest answer gave it, and what has passed since. The monotonic clock
 * stands still while a Linux or macOS machine sleeps, and the wall clock can be set back: the one
 * that advanced further counts. A wall clock that is set ahead is right again with the next answer.
 */

/** By how much an answer that took its time, and whose header has whole seconds, may be behind. */
const TOLERANCE_MS = 2_000;

interface Moment {
  readonly timeMs: number;
  readonly wallMs: number;
  readonly steadyMs: number;
}

const momentOf = (timeMs: number): Moment => ({
  timeMs,
  wallMs: Date.now(),
  steadyMs: performance.now(),
});
/** The browser's own time until an answer came. */
let known = momentOf(Date.now());

/** Milliseconds since 1970. */
export function now(): number {
  const { timeMs, wallMs, steadyMs } = known;
  return timeMs + Math.max(Date.now() - wallMs, performance.now() - steadyMs);
}

/** Takes over the time of the server from the `Date` of its answer, if it has one. */
export function learnTime({ headers }: Pick<Response, "headers">): void {
  const serverMs = Date.parse(headers.get("date") ?? "");
  if (Number.isNaN(serverMs)) return;
  const timeMs = now();
  const isSame = timeMs >= serverMs && timeMs < serverMs + TOLERANCE_MS;
  known = momentOf(isSame ? timeMs : serverMs);
}
