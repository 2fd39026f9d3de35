/**
 * One call for several equal requests at once. It ends early only when every requester has gone;
 * its failure is everyone's.
 */
import { orAborted } from "../../../kernel/async/wait.ts";

export class Flight<T> {
  readonly #controller = new AbortController();
  readonly #outcome: Promise<T>;
  #requesters = 0;

  /** `call` begins at once, for the requester with this signal, who has to await `outcome`. */
  constructor(signal: AbortSignal, call: (signal: AbortSignal) => Promise<T>) {
    this.#outcome = call(this.#controller.signal);
    const leave = this.#enter(signal);
    this.#outcome.finally(leave).catch(() => undefined);
  }

  /**
   * For the requester who began it: the call's own outcome, also after that requester has gone,
   * since the call may have made something by then.
   */
  get outcome(): Promise<T> {
    return this.#outcome;
  }

  /**
   * For any further requester: the outcome, or a rejection once the signal fires. Undefined when
   * the call ended because everyone before had gone.
   */
  async join(signal: AbortSignal): Promise<T | undefined> {
    signal.throwIfAborted();
    const leave = this.#enter(signal);
    try {
      return await orAborted(this.#outcome, signal);
    } catch (error) {
      if (signal.aborted || !this.#controller.signal.aborted) throw error;
      return undefined;
    } finally {
      leave();
    }
  }

  /** Gives what takes the listener away. */
  #enter(signal: AbortSignal): () => void {
    this.#requesters += 1;
    const gone = (): void => {
      this.#requesters -= 1;
      if (this.#requesters === 0) this.#controller.abort(signal.reason);
    };
    if (signal.aborted) gone();
    else signal.addEventListener("abort", gone, { once: true });
    return () => signal.removeEventListener("abort", gone);
  }
}
