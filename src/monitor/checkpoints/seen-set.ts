/**
 * Bounded set of digests, each with an expiry time. Digests added together form a batch that is
 * stored and dropped as one. Beyond the capacity those that expire first are evicted.
 */

/**
 * Expired digests are kept this long: after a step of the wall clock a window may be read again.
 */
const GRACE_MS = 2 * 3_600_000;

/** Digests added together. */
export interface SeenBatch {
  readonly untilMs: number;
  /** Distinguishes batches with the same time. */
  readonly number: number;
  readonly digests: readonly string[];
  /** Rows the batch occupies in the store. */
  readonly parts: number;
}

interface Held extends SeenBatch {
  /** Digests before this index are evicted. */
  first: number;
}

/** Digests evicted before they expired. */
export interface EarlyEvictions {
  readonly count: number;
  /** The latest expiry among them; undefined without any. */
  readonly untilMs: number | undefined;
}

export class SeenSet {
  readonly #capacity: number;
  readonly #batches: Held[] = [];
  readonly #holder = new Map<string, Held>();
  #evictedEarly: EarlyEvictions = { count: 0, untilMs: undefined };

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#holder.size;
  }

  get evictedEarly(): EarlyEvictions {
    return this.#evictedEarly;
  }

  has(digest: string): boolean {
    return this.#holder.has(digest);
  }

  /** Adds a batch. A digest that is already present keeps the later expiry. */
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

  /** Evicts long-expired and excess digests; returns batches that are now empty. */
  trim(nowMs: number): SeenBatch[] {
    const gone: SeenBatch[] = [];
    for (let oldest = this.#batches[0]; oldest !== undefined; oldest = this.#batches[0]) {
      if (oldest.untilMs + GRACE_MS <= nowMs) this.#shorten(oldest, 0);
      else if (this.#holder.size > this.#capacity) this.#evict(oldest, nowMs);
      if (oldest.first < oldest.digests.length) break;
      this.#batches.shift();
      gone.push(oldest);
    }
    return gone;
  }

  #evict(oldest: Held, nowMs: number): void {
    const before = this.#holder.size;
    this.#shorten(oldest, this.#capacity);
    const count = before - this.#holder.size;
    if (count === 0 || oldest.untilMs <= nowMs) return;
    this.#evictedEarly = {
      count: this.#evictedEarly.count + count,
      untilMs: Math.max(oldest.untilMs, this.#evictedEarly.untilMs ?? 0),
    };
  }

  /** Evicts digests of a batch until the set fits the capacity. */
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
