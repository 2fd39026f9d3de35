/** Counts what is in a bounded queue, and what did not fit. */

export interface QueueStatus {
  readonly held: number;
  readonly capacity: number;
  /** Dropped because the queue was full, or was given up with what it held. */
  readonly dropped: number;
}

/** The queue itself is its owner's; this decides what enters it. */
export class QueueCount implements QueueStatus {
  readonly capacity: number;
  #held = 0;
  #dropped = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get held(): number {
    return this.#held;
  }

  get dropped(): number {
    return this.#dropped;
  }

  /** Counts one more; false when the queue is full, and it counts as dropped. */
  enter(): boolean {
    if (this.#held >= this.capacity) {
      this.#dropped += 1;
      return false;
    }
    this.#held += 1;
    return true;
  }

  /** So many left the queue by its end. */
  leave(count: number): void {
    this.#held = Math.max(0, this.#held - count);
  }

  /** So many were in the queue and are dropped. */
  drop(count: number): void {
    this.leave(count);
    this.#dropped += count;
  }

  status(): QueueStatus {
    return { held: this.#held, capacity: this.capacity, dropped: this.#dropped };
  }
}
