/** Changes before they run, bounded: those in the queue, and behind them those that wait for a slot. */
import type { Clock } from "../../base/clock.ts";
import { StewardError } from "../../base/errors.ts";
import type { Pending } from "./write-group.ts";

/** Maximum number of queued changes, and of their bytes, estimated from recent changes. */
export const QUEUE_CHANGES = 10_000;
const QUEUE_BYTES = 32 * 2 ** 20;
/** How long a caller waits for a slot in the queue. */
const QUEUE_WAIT_MS = 5_000;

export class ChangeQueue {
  readonly #clock: Clock;
  /** Of the file, for messages. */
  readonly #path: string;
  readonly #queue: Pending[] = [];
  readonly #waiting = new Map<Pending, Disposable>();
  #averageBytes = 0;

  constructor(clock: Clock, path: string) {
    this.#clock = clock;
    this.#path = path;
  }

  get length(): number {
    return this.#queue.length + this.#waiting.size;
  }

  get first(): Pending | undefined {
    return this.#queue[0];
  }

  shift(): void {
    this.#queue.shift();
  }

  /** True if it is in the queue now; else it waits, or was refused. */
  add(pending: Pending): boolean {
    if (!this.#hasCapacity() || this.#waiting.size > 0) {
      this.#wait(pending);
      return false;
    }
    this.#queue.push(pending);
    return true;
  }

  /** Lets in those that wait, while there are slots. */
  admit(): void {
    for (const [pending, timer] of this.#waiting) {
      if (!this.#hasCapacity()) return;
      this.#waiting.delete(pending);
      timer[Symbol.dispose]();
      this.#queue.push(pending);
    }
  }

  /** Puts changes at the head of the queue, to run again. */
  putBack(changes: readonly Pending[]): void {
    this.#queue.unshift(...changes);
  }

  /** Rejects all queued changes, and of the waiting ones those for which the queue has a slot. */
  refuse(failure: StewardError): void {
    this.admit();
    for (const pending of this.#queue.splice(0)) pending.reject(failure);
  }

  /** Updates the average size of a change, by which `QUEUE_BYTES` is enforced. */
  updateAverage(bytes: number): void {
    this.#averageBytes = this.#averageBytes * 0.9 + bytes * 0.1;
  }

  #hasCapacity(): boolean {
    const length = this.#queue.length;
    return length === 0 || (length < QUEUE_CHANGES && length * this.#averageBytes < QUEUE_BYTES);
  }

  #wait(pending: Pending): void {
    if (this.#waiting.size >= QUEUE_CHANGES) return pending.reject(this.#exhausted());
    this.#waiting.set(
      pending,
      this.#clock.timer(this.#clock.monotonic() + QUEUE_WAIT_MS, () => {
        if (this.#waiting.delete(pending)) pending.reject(this.#exhausted());
      }),
    );
  }

  #exhausted(): StewardError {
    return new StewardError("exhausted", `the write queue of ${this.#path} is full`, {
      rule: "write queue",
      remedy: "try again later",
      retryAfterMs: QUEUE_WAIT_MS,
    });
  }
}
