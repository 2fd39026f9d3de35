/**
 * Position of the next window, robust against steps of the wall clock. After a step ahead, windows
 * would cover time that has not passed; after a step back, later events would be skipped as already
 * read. Steps are detected with the monotonic clock, and windows resume at the position before the
 * step: records read twice are deduplicated, unread ones would be lost.
 */

/** Smaller steps are covered by the lag and the overlap of windows. */
const STEP_MS = 5_000;

/** Both clocks at one instant. */
export interface ClockReading {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** One per windowed collector. */
export class WindowPosition {
  #positionMs: number | undefined;
  #last: ClockReading | undefined;
  /**
   * Position before the clock stepped ahead, and the size of the step; a suspended machine looks
   * the same.
   */
  #ahead: { readonly positionMs: number | undefined; readonly byMs: number } | undefined;

  /**
   * Start of the next window; undefined for the first one. `markMs` is the position stored by the
   * previous process.
   */
  at(now: ClockReading, markMs: number | undefined): number | undefined {
    if (this.#last === undefined) {
      // A stored position in the future was written under a wrong clock and is discarded.
      this.#positionMs = markMs !== undefined && markMs > now.wallMs ? undefined : markMs;
    } else {
      this.#follow(now.wallMs - this.#last.wallMs - (now.monotonicMs - this.#last.monotonicMs));
    }
    this.#last = now;
    return this.#positionMs;
  }

  /** Records that a window was read up to here. */
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
