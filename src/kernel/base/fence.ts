/**
 * A time until which effects are allowed, shared by all threads: whoever is about to do what others
 * see looks at it first, so that a process that was paused does nothing with what it once held.
 */

import type { Clock } from "./clock.ts";

/** Passed to other threads as its memory. */
export interface Fence {
  readonly memory: SharedArrayBuffer;
  isOpen(): boolean;
  /** From now, by this machine's clocks; replaces an earlier end. */
  openFor(ms: number): void;
  close(): void;
}

/** Cells of the memory: ends by the monotonic clock of the machine (ns) and by the wall clock (ms). */
const MONOTONIC = 0;
const WALL = 1;
const CELLS = 2;
const NS_PER_MS = 1_000_000;

/** Closed at first. */
export function createFence(clock: Pick<Clock, "now">): Fence {
  return fenceOf(new SharedArrayBuffer(CELLS * BigInt64Array.BYTES_PER_ELEMENT), clock);
}

/** The fence behind the memory of another thread's. */
export function fenceOf(memory: SharedArrayBuffer, clock: Pick<Clock, "now">): Fence {
  const ends = new BigInt64Array(memory);
  const set = (monotonicNs: bigint, wallMs: bigint): void => {
    Atomics.store(ends, MONOTONIC, monotonicNs);
    Atomics.store(ends, WALL, wallMs);
  };
  return {
    memory,
    // The monotonic clock stands still while the machine sleeps, and the wall clock may be set back:
    // the earlier end counts. `performance.now` starts anew in each thread.
    isOpen: () =>
      process.hrtime.bigint() < Atomics.load(ends, MONOTONIC) &&
      BigInt(Math.floor(clock.now())) < Atomics.load(ends, WALL),
    openFor: (ms) =>
      set(
        process.hrtime.bigint() + BigInt(Math.floor(ms * NS_PER_MS)),
        BigInt(Math.floor(clock.now() + ms)),
      ),
    close: () => set(0n, 0n),
  };
}
