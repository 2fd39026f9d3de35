/**
 * Exemplars of the histograms of a scope: of each bucket the latest observation inside a recorded
 * span. They lie in one buffer, so that recording is a few writes to typed arrays and a snapshot is
 * one copy.
 *
 *   byte    0       8         16         32        40
 *   slot  [ value | time ms | trace id | span id | cell ]
 *
 * `cell` is a cell of the histogram slab; -1 in a free slot.
 */
import type { TraceIds } from "../types.ts";
import type { Ceiling } from "./ceiling.ts";

/** An observation with the span it was made in. */
export interface Exemplar extends TraceIds {
  readonly value: number;
  /** Milliseconds since 1970. */
  readonly timeMs: number;
}

const FIRST_CAPACITY = 16;
const NO_CELL = -1;
/** Slot size in 8-byte numbers, and in 4-byte ones. */
const NUMBERS = 6;
const WORDS = 12;
const [TIME, CELL] = [1, 5];
const [TRACE_WORD, SPAN_WORD, CELL_WORD] = [4, 8, 10];
const DIGITS_PER_WORD = 8;

/** The writer's side. Cells belong to one histogram slab. */
export class ExemplarSlots {
  readonly #ceiling: Ceiling;
  readonly #slots = new Map<number, number>();
  readonly #free: number[] = [];
  #numbers: Float64Array<ArrayBuffer> = new Float64Array(FIRST_CAPACITY * NUMBERS);
  #words: Uint32Array<ArrayBuffer> = new Uint32Array(this.#numbers.buffer);
  #used = 0;

  constructor(ceiling: Ceiling) {
    this.#ceiling = ceiling;
  }

  /** Replaces the cell's exemplar. At the ceiling, a cell without one stays without. */
  set(cell: number, { value, timeMs, traceId, spanId }: Exemplar): void {
    const slot = this.#slots.get(cell) ?? this.#allocate(cell);
    if (slot === undefined) return;
    this.#numbers[slot * NUMBERS] = value;
    this.#numbers[slot * NUMBERS + TIME] = timeMs;
    this.#numbers[slot * NUMBERS + CELL] = cell;
    this.#writeHex(traceId, slot * WORDS + TRACE_WORD);
    this.#writeHex(spanId, slot * WORDS + SPAN_WORD);
  }

  /** Removes the exemplars of `cells` cells starting at `first`. */
  release(first: number, cells: number): void {
    for (let cell = first; cell < first + cells; cell++) {
      const slot = this.#slots.get(cell);
      if (slot === undefined) continue;
      this.#slots.delete(cell);
      this.#numbers[slot * NUMBERS + CELL] = NO_CELL;
      this.#free.push(slot);
      this.#ceiling.exemplarEnded();
    }
  }

  /** All slots up to the highest ever used. */
  copy(): Float64Array<ArrayBuffer> {
    return this.#numbers.slice(0, this.#used * NUMBERS);
  }

  #allocate(cell: number): number | undefined {
    if (!this.#ceiling.admitExemplar()) return undefined;
    const slot = this.#free.pop() ?? this.#extend();
    this.#slots.set(cell, slot);
    return slot;
  }

  #extend(): number {
    if ((this.#used + 1) * NUMBERS > this.#numbers.length) {
      const larger = new Float64Array(this.#numbers.length * 2);
      larger.set(this.#numbers);
      this.#numbers = larger;
      this.#words = new Uint32Array(larger.buffer);
    }
    this.#used += 1;
    return this.#used - 1;
  }

  #writeHex(text: string, from: number): void {
    for (let at = 0; at < text.length; at += DIGITS_PER_WORD) {
      this.#words[from + at / DIGITS_PER_WORD] = Number.parseInt(
        text.slice(at, at + DIGITS_PER_WORD),
        16,
      );
    }
  }
}

/** The exemplar of a cell; undefined when the bucket has none. */
export type ExemplarReader = (cell: number) => Exemplar | undefined;

export function exemplarReader(copy: Float64Array<ArrayBuffer> | undefined): ExemplarReader {
  if (copy === undefined) return () => undefined;
  const words = new Uint32Array(copy.buffer);
  const slots = new Map<number, number>();
  for (let slot = 0; slot * NUMBERS < copy.length; slot++) {
    const cell = copy[slot * NUMBERS + CELL] ?? NO_CELL;
    if (cell !== NO_CELL) slots.set(cell, slot);
  }
  return (cell) => {
    const slot = slots.get(cell);
    if (slot === undefined) return undefined;
    const [number, word] = [slot * NUMBERS, slot * WORDS];
    return {
      value: copy[number] ?? 0,
      timeMs: copy[number + TIME] ?? 0,
      traceId: hex(words.subarray(word + TRACE_WORD, word + SPAN_WORD)),
      spanId: hex(words.subarray(word + SPAN_WORD, word + CELL_WORD)),
    };
  };
}

function hex(words: Uint32Array): string {
  return Array.from(words, (word) => word.toString(16).padStart(DIGITS_PER_WORD, "0")).join("");
}
