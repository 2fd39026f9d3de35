/**
 * The few words of shared memory through which a run and its task speak while the task computes.
 */

const CANCEL = 0;
const STARTED = 1;
const UNITS = 2;
const WORDS = 3;

/** Words shared by one attempt of one run. */
export type ControlWords = Int32Array<SharedArrayBuffer>;

/** Fresh words: not cancelled, not started, nothing done. */
export function createControlWords(): ControlWords {
  return new Int32Array(new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT));
}

/** Asks the task to return. */
export function setCancelled(words: ControlWords): void {
  Atomics.store(words, CANCEL, 1);
}

/** Whether the caller has gone. A plain read: cheap enough for every document. */
export function isCancelled(words: ControlWords): boolean {
  return Atomics.load(words, CANCEL) === 1;
}

/** Says that a worker has taken the task. */
export function setStarted(words: ControlWords): void {
  Atomics.store(words, STARTED, 1);
}

/** Whether a worker has taken the task. */
export function hasStarted(words: ControlWords): boolean {
  return Atomics.load(words, STARTED) === 1;
}

/** Counts units done; wraps after 2³¹, far above what one run does. */
export function addUnits(words: ControlWords, units: number): void {
  Atomics.add(words, UNITS, units);
}

/** Units done so far. */
export function unitsOf(words: ControlWords): number {
  return Atomics.load(words, UNITS);
}
