/**
 * Limit on series, label bytes and exemplars over all scopes of a thread, so that no combination of
 * per-metric limits exhausts the memory.
 */

/** Maximum number of series of a thread, and of characters in their labels. */
export interface CeilingLimits {
  readonly series: number;
  readonly labelBytes: number;
}

/** 500,000 series, 64 MiB of labels. */
const defaultCeiling: CeilingLimits = { series: 500_000, labelBytes: 64 * 2 ** 20 };

/**
 * Maximum number of exemplars of a thread: one for each of 100,000 series. A histogram has one per
 * bucket, so that frequent fast observations do not overwrite rare slow ones; unbounded, 100,000
 * series with 14 buckets would take fourteen times that.
 */
export const MAX_EXEMPLARS = 100_000;

export class Ceiling {
  readonly #limits: CeilingLimits;
  series = 0;
  labelBytes = 0;
  exemplars = 0;
  /** Whether a series was ever rejected. */
  reached = false;

  constructor(limits: CeilingLimits = defaultCeiling) {
    this.#limits = limits;
  }

  /** Whether one more series with this many label bytes fits. */
  admits(labelBytes: number): boolean {
    const fits =
      this.series < this.#limits.series && this.labelBytes + labelBytes <= this.#limits.labelBytes;
    if (!fits) this.reached = true;
    return fits;
  }

  add(labelBytes: number): void {
    this.series += 1;
    this.labelBytes += labelBytes;
  }

  remove(labelBytes: number): void {
    this.series -= 1;
    this.labelBytes -= labelBytes;
  }

  /** Counts one more exemplar if the limit allows it. */
  admitExemplar(): boolean {
    if (this.exemplars >= MAX_EXEMPLARS) return false;
    this.exemplars += 1;
    return true;
  }

  exemplarEnded(): void {
    this.exemplars -= 1;
  }
}
