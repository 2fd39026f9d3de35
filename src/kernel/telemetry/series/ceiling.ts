/**
 * What all scopes of a thread may hold together, so that no combination of limits per metric
 * exhausts the memory.
 */

/** Most series of a thread, and most characters in their labels. */
export interface CeilingLimits {
  readonly series: number;
  readonly labelBytes: number;
}

/** 500,000 series, 64 MiB of labels (KERNEL §3). */
const defaultCeiling: CeilingLimits = { series: 500_000, labelBytes: 64 * 2 ** 20 };

/**
 * Most exemplars of a thread: what one each of 100,000 series would take. A histogram has one per
 * bucket, so that the slow ones are not overwritten by the many quick ones; without a bound,
 * 100,000 series with 14 buckets would take fourteen times that.
 */
export const MAX_EXEMPLARS = 100_000;

/** Counts series, their labels and exemplars over all scopes. */
export class Ceiling {
  readonly #limits: CeilingLimits;
  series = 0;
  labelBytes = 0;
  exemplars = 0;
  /** Whether a series was ever turned away. */
  reached = false;

  constructor(limits: CeilingLimits = defaultCeiling) {
    this.#limits = limits;
  }

  /** Whether one more series of that many label bytes fits. */
  admits(labelBytes: number): boolean {
    const fits =
      this.series < this.#limits.series && this.labelBytes + labelBytes <= this.#limits.labelBytes;
    if (!fits) this.reached = true;
    return fits;
  }

  born(labelBytes: number): void {
    this.series += 1;
    this.labelBytes += labelBytes;
  }

  ended(labelBytes: number): void {
    this.series -= 1;
    this.labelBytes -= labelBytes;
  }

  /** Counts one more exemplar if there may be one. */
  admitExemplar(): boolean {
    if (this.exemplars >= MAX_EXEMPLARS) return false;
    this.exemplars += 1;
    return true;
  }

  exemplarEnded(): void {
    this.exemplars -= 1;
  }
}
