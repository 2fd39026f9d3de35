/**
 * Yielding to the event loop. All long work of a thread shares one queue, and each iteration of the
 * loop resumes one piece of it: however much works at once, I/O and timers wait for one piece only.
 */
import { systemClock, type Clock } from "../base/clock.ts";

/** Length of a slice where nothing else is said. */
const SLICE_MS = 4;

export interface TurnsOptions {
  readonly sliceMs?: number;
  readonly clock?: Pick<Clock, "monotonic">;
}

/** One slice of work after the other. */
export class Turns {
  readonly #sliceMs: number;
  readonly #clock: Pick<Clock, "monotonic">;
  #endsAtMs: number;

  constructor({ sliceMs = SLICE_MS, clock = systemClock }: TurnsOptions = {}) {
    this.#sliceMs = sliceMs;
    this.#clock = clock;
    this.#endsAtMs = clock.monotonic() + sliceMs;
  }

  /** Whether to yield; check between small units of work. */
  get over(): boolean {
    return this.#clock.monotonic() >= this.#endsAtMs;
  }

  /** Yields, then begins a new slice. Rejects with the signal's reason. */
  async give(signal?: AbortSignal): Promise<void> {
    await nextTurn(signal);
    this.#endsAtMs = this.#clock.monotonic() + this.#sliceMs;
  }
}

/** Resumes the longest waiting; the others wait for later iterations. */
const waiting: (() => void)[] = [];

/**
 * Yields: resolves in a later iteration of the event loop, after all earlier callers. Rejects with
 * the signal's reason if that has fired by then. Keeps the process alive.
 */
export async function nextTurn(signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(resume);
  });
  signal?.throwIfAborted();
}

function resume(): void {
  const next = waiting.shift();
  if (waiting.length > 0) setImmediate(resume);
  next?.();
}

/**
 * Runs at the end of this iteration of the event loop, without waiting for other work: for what
 * comes within one iteration and is handled together. Keeps the process alive.
 */
export function atEndOfTurn(run: () => void): void {
  setImmediate(run);
}

/** The results in order, yielding as necessary. */
export async function mapInTurns<T, U>(
  items: readonly T[],
  turns: Turns,
  map: (item: T) => U,
): Promise<U[]> {
  const mapped: U[] = [];
  for (const item of items) {
    if (turns.over) await turns.give();
    mapped.push(map(item));
  }
  return mapped;
}
