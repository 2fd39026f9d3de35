/**
 * Effects of bodies that were accepted a moment ago, so that they need not be read and parsed
 * again. What does not fit is read from disk.
 */
import type { Entry } from "./journal.ts";

/**
 * Applies a body to its network; resolves with the number of log records that it wrote at most.
 * Rejects with the signal's reason, or to be tried again.
 */
export type Effect = (signal: AbortSignal) => Promise<number>;

/** Bytes of the bodies; what was parsed of them takes a few times as much. */
const MAX_BYTES = 8 * 2 ** 20;

export class PreparedEffects {
  readonly #kept = new Map<number, { readonly effect: Effect; readonly bytes: number }>();
  #bytes = 0;

  keep({ number, bytes }: Pick<Entry, "number" | "bytes">, effect: Effect): void {
    if (this.#bytes + bytes > MAX_BYTES) return;
    this.#kept.set(number, { effect, bytes });
    this.#bytes += bytes;
  }

  /** Once; an effect that fails is made anew from the body. */
  take(number: number): Effect | undefined {
    const kept = this.#kept.get(number);
    if (kept === undefined) return undefined;
    this.#kept.delete(number);
    this.#bytes -= kept.bytes;
    return kept.effect;
  }
}
