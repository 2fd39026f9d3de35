/**
 * What failed reads of a polled window have counted. Batches count as they arrive, so a window that
 * fails in its middle is read again, whole or in parts, and counts only what is new.
 */
import { nextTurn } from "../../kernel/async/turns.ts";
import type { TimeWindow } from "../providers/model.ts";

/**
 * Records remembered: the connections of a response of 32 MiB at 128 bytes each. About 30 MB, until
 * the window is complete. What comes beyond it is not remembered.
 */
export const MAX_UNFINISHED = 262_144;
/** Digests moved between two yields to the event loop: about 3 ms. */
const AT_ONCE = 8_192;

/** One per log of a network. */
export class UnfinishedWindow {
  /** Digests of earlier reads, and those that the current one had; never in both. */
  #earlier = new Set<string>();
  #current = new Set<string>();
  /** The latest end of a window that was begun. */
  #untilMs = 0;

  get size(): number {
    return this.#earlier.size + this.#current.size;
  }

  /**
   * Reads a window. What it had is forgotten once it is complete, and everything once there is no
   * later part. Rejects as `run` does, or with the signal's reason: then the window is read again.
   */
  async read(
    { toMs }: Pick<TimeWindow, "toMs">,
    { nowMs, signal }: { readonly nowMs: number; readonly signal: AbortSignal },
    run: () => Promise<void>,
  ): Promise<void> {
    await this.#keepCurrent();
    // Windows end before now; a later end was one of a wrong clock.
    this.#untilMs = Math.max(toMs, Math.min(this.#untilMs, nowMs));
    await run();
    signal.throwIfAborted();
    this.#current.clear();
    if (toMs >= this.#untilMs) this.#earlier.clear();
  }

  /** Whether a read had it. Then it is the current read's: forgotten when that is complete. */
  take(digest: string): boolean {
    if (this.#current.has(digest)) return true;
    if (!this.#earlier.delete(digest)) return false;
    this.#current.add(digest);
    return true;
  }

  add(digest: string): void {
    if (this.size < MAX_UNFINISHED) this.#current.add(digest);
  }

  async #keepCurrent(): Promise<void> {
    if (this.#current.size > this.#earlier.size)
      [this.#earlier, this.#current] = [this.#current, this.#earlier];
    let moved = 0;
    for (const digest of this.#current) {
      this.#earlier.add(digest);
      moved += 1;
      if (moved % AT_ONCE === 0) await nextTurn();
    }
    this.#current.clear();
  }
}
