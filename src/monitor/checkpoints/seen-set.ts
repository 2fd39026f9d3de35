/**
 * Digests with the time until which they must not count twice. Those that were added together stay
 * together, so that whoever stores them can drop them by the batch. Beyond the capacity those that
 * end first go.
 */

/**
 * The wall clock may step: what it says has ended is kept for so long, and who reads a window again
 * after a step finds it.
 */
const GRACE_MS = 2 * 3_600_000;

/** Digests that were added together. */
export interface SeenBatch {
  readonly untilMs: number;
  /** Tells batches of the same time apart. */
  readonly number: number;
  readonly digests: readonly string[];
  /** Rows that it takes where it is stored. */
  readonly parts: number;
}

interface Held extends SeenBatch {
  /** Digests before it are gone already. */
  first: number;
}

/** A bounded set. */
export class SeenSet {
  readonly #capacity: number;
  readonly #batches: Held[] = [];
  readonly #holder = new Map<string, Held>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#holder.size;
  }

  has(digest: string): boolean {
    return this.#holder.has(digest);
  }

  /** Takes a batch in; a digest that is known already lasts as long as the longer of the two. */
  add(batch: SeenBatch): void {
    const held: Held = { ...batch, first: 0 };
    let at = this.#batches.length;
    while (at > 0 && isAfter(this.#batches[at - 1], held)) at -= 1;
    this.#batches.splice(at, 0, held);
    for (const digest of held.digests) {
      const other = this.#holder.get(digest);
      if (other === undefined || !isAfter(other, held)) this.#holder.set(digest, held);
    }
  }

  /**
   * Lets go of what ended long ago and of what is too much; gives the batches of which nothing is
   * left.
   */
  trim(nowMs: number): SeenBatch[] {
    const gone: SeenBatch[] = [];
    for (let oldest = this.#batches[0]; oldest !== undefined; oldest = this.#batches[0]) {
      if (oldest.untilMs + GRACE_MS <= nowMs) this.#shorten(oldest, 0);
      else if (this.#holder.size > this.#capacity) this.#shorten(oldest, this.#capacity);
      if (oldest.first < oldest.digests.length) break;
      this.#batches.shift();
      gone.push(oldest);
    }
    return gone;
  }

  /** Takes the digests of a batch away until so many are left in the set. */
  #shorten(batch: Held, capacity: number): void {
    for (; batch.first < batch.digests.length && this.#holder.size > capacity; batch.first += 1) {
      const digest = batch.digests[batch.first];
      if (digest !== undefined && this.#holder.get(digest) === batch) this.#holder.delete(digest);
    }
    if (this.#holder.size === 0) batch.first = batch.digests.length;
  }
}

function isAfter(left: SeenBatch | undefined, right: SeenBatch): boolean {
  return (
    left !== undefined &&
    (left.untilMs > right.untilMs || (left.untilMs === right.untilMs && left.number > right.number))
  );
}
