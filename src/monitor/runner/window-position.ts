/**
 * Where the next window begins, also when the wall clock steps. A clock that jumps ahead makes
 * windows of a time that has not come; when it jumps back, what happened meanwhile would be skipped
 * as read. So the jump is noticed by the monotonic clock, and the windows begin again where they
 * were before it: read twice is set right by the sets of what was seen, unread is lost.
 */

/** A smaller step is made up by the lag and by the overlap of windows. */
const STEP_MS = 5_000;

/** Both clocks at one moment. */
export interface ClockReading {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** Follows one row of windows. */
export class WindowPosition {
  #positionMs: number | undefined;
  #last: ClockReading | undefined;
  /**
   * Where windows were when the clock went ahead, and by how much it did; a machine that slept
   * looks the same.
   */
  #ahead: { readonly positionMs: number | undefined; readonly byMs: number } | undefined;

  /**
   * Where the next window begins; undefined for the first one. `markMs` is what was stored at the
   * last run of the daemon.
   */
  at(now: ClockReading, markMs: number | undefined): number | undefined {
    if (this.#last === undefined) {
      // A mark of the future was made under a wrong clock: what it stands for is unknown.
      this.#positionMs = markMs !== undefined && markMs > now.wallMs ? undefined : markMs;
    } else {
      this.#follow(now.wallMs - this.#last.wallMs - (now.monotonicMs - this.#last.monotonicMs));
    }
    this.#last = now;
    return this.#positionMs;
  }

  /** A window was read so far. */
  reached(markMs: number): void {
    this.#positionMs = markMs;
  }

  #follow(stepMs: number): void {
    if (stepMs > STEP_MS)
      this.#ahead = {
        positionMs: this.#ahead === undefined ? this.#positionMs : this.#ahead.positionMs,
        byMs: stepMs + (this.#ahead?.byMs ?? 0),
      };
    if (stepMs >= -STEP_MS) return;
    if (this.#ahead !== undefined && -stepMs >= this.#ahead.byMs - STEP_MS)
      this.#positionMs = this.#ahead.positionMs;
    else if (this.#positionMs !== undefined) this.#positionMs += stepMs;
    this.#ahead = undefined;
  }
}
