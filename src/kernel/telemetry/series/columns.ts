/**
 * The numbers of all series of a scope, in columns: a measurement is one write to a typed array, a
 * snapshot is one copy.
 *
 *   number    0      1      2      3
 *   row     [ 4    | 4    | none | 7     ]
 *   value   [ 1.5  | 20   |      | 96 ---]-> slab
 *   start   [ 0    | ms   |      | ms    ]
 *   mark    [ gen  | s    |      | s     ]
 *
 * - `row`: the catalogue row, or none where no series lives.
 * - `value`: of a histogram the offset of its block in the slab.
 * - `start`: since when a sum counts, milliseconds since 1970; 0 for gauges.
 * - `mark`: of a gauge the generation of the last sweep, otherwise the second of the last write.
 */
import type { SeriesCopy } from "../messages.ts";
import { HistogramSlab } from "./histogram-slab.ts";

/** In the row column: no series. */
export const NO_ROW = 0xff_ff_ff_ff;

const FIRST_CAPACITY = 256;

/** The columns of one scope and its free numbers. */
export class SeriesColumns {
  value: Float64Array<ArrayBuffer> = new Float64Array(FIRST_CAPACITY);
  start: Float64Array<ArrayBuffer> = new Float64Array(FIRST_CAPACITY);
  mark: Uint32Array<ArrayBuffer> = new Uint32Array(FIRST_CAPACITY);
  row: Uint32Array<ArrayBuffer> = new Uint32Array(FIRST_CAPACITY).fill(NO_ROW);
  readonly slab: HistogramSlab = new HistogramSlab();
  readonly #free: number[] = [];
  #used = 0;

  /** One more than the highest number ever used. */
  get used(): number {
    return this.#used;
  }

  /** Allocates a number for a new series and initialises its columns. */
  allocate(row: number, startMs: number): number {
    const number = this.#free.pop() ?? this.#extend();
    this.row[number] = row;
    this.value[number] = 0;
    this.start[number] = startMs;
    this.mark[number] = 0;
    return number;
  }

  /** Ends the series; its number is reused only after `release`. */
  retire(number: number): void {
    this.row[number] = NO_ROW;
  }

  /** Frees the number: nobody maps it to its old labels any more. */
  release(number: number): void {
    this.#free.push(number);
  }

  /** A copy taken synchronously, so that no histogram is torn. */
  copy(): SeriesCopy {
    return {
      row: this.row.slice(0, this.#used),
      value: this.value.slice(0, this.#used),
      start: this.start.slice(0, this.#used),
      slab: this.slab.copy(),
    };
  }

  #extend(): number {
    if (this.#used === this.row.length) this.#grow(this.#used * 2);
    this.#used += 1;
    return this.#used - 1;
  }

  #grow(capacity: number): void {
    const { value, start, mark, row } = this;
    this.value = new Float64Array(capacity);
    this.value.set(value);
    this.start = new Float64Array(capacity);
    this.start.set(start);
    this.mark = new Uint32Array(capacity);
    this.mark.set(mark);
    this.row = new Uint32Array(capacity).fill(NO_ROW);
    this.row.set(row);
  }
}
