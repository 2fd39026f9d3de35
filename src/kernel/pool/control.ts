/** Shared memory between a run and its task: cancel flag, started flag and progress counter. */

const CANCEL = 0;
const STARTED = 1;
const UNITS = 2;
const WORDS = 3;

/** Shared by one attempt of one run. */
export type ControlWords = Int32Array<SharedArrayBuffer>;

/** Not cancelled, not started, no progress. */
export function createControlWords(): ControlWords {
  return new Int32Array(new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT));
}

export function setCancelled(words: ControlWords): void {
  Atomics.store(words, CANCEL, 1);
}

/** Whether the caller cancelled. A plain read, cheap enough for every document. */
export function isCancelled(words: ControlWords): boolean {
  return Atomics.load(words, CANCEL) === 1;
}

/** Called by the worker that has taken the task. */
export function setStarted(words: ControlWords): void {
  Atomics.store(words, STARTED, 1);
}

export function hasStarted(words: ControlWords): boolean {
  return Atomics.load(words, STARTED) === 1;
}

/** Adds to the progress; wraps at 2³¹, far above what one run does. */
export function addUnits(words: ControlWords, units: number): void {
  Atomics.add(words, UNITS, units);
}

export function unitsOf(words: ControlWords): number {
  return Atomics.load(words, UNITS);
}
