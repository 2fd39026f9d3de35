/**
 * Storage of histogram series: one block of `bounds + 1` counts and the sum per series. Blocks are
 * reused by series with the same number of bounds.
 */

const FIRST_CAPACITY = 64;

export class HistogramSlab {
  #cells: Float64Array<ArrayBuffer> = new Float64Array(FIRST_CAPACITY);
  #used = 0;
  readonly #free = new Map<number, number[]>();

  /** The offset of a zeroed block for this many bounds. */
  allocate(bounds: number): number {
    const length = blockLength(bounds);
    const reused = this.#free.get(length)?.pop();
    if (reused !== undefined) {
      this.#cells.fill(0, reused, reused + length);
      return reused;
    }
    const offset = this.#used;
    this.#used += length;
    if (this.#used > this.#cells.length) {
      const larger = new Float64Array(Math.max(this.#cells.length * 2, this.#used));
      larger.set(this.#cells);
      this.#cells = larger;
    }
    return offset;
  }

  free(offset: number, bounds: number): void {
    const length = blockLength(bounds);
    const list = this.#free.get(length);
    if (list) list.push(offset);
    else this.#free.set(length, [offset]);
  }

  /** Counts one observation and returns the cell of its bucket; bounds are inclusive. */
  record(offset: number, bounds: readonly number[], value: number): number {
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1;
    this.#cells[offset + bucket] = (this.#cells[offset + bucket] ?? 0) + 1;
    const sum = offset + bounds.length + 1;
    this.#cells[sum] = (this.#cells[sum] ?? 0) + value;
    return offset + bucket;
  }

  copy(): Float64Array<ArrayBuffer> {
    return this.#cells.slice(0, this.#used);
  }
}

/** Cells of a block: one per bucket, one for the sum. */
function blockLength(bounds: number): number {
  return bounds + 2;
}
