/**
 * Holds the writes of this process, in all of its threads, while another process opens the stores.
 * Opening an LMDB file stores the number of the newest transaction, as it was a moment before, in
 * the lock file. A commit in between would be lost: the next write starts from the one before
 * (docs/decisions/state-backup.md).
 */
import { getEnvironmentData, setEnvironmentData } from "node:worker_threads";
import { systemClock } from "../../base/clock.ts";
import { StewardError } from "../../base/errors.ts";
import { late, waitFor } from "../../async/wait.ts";

const NAME = "steward.state.write-gate";
/** How many hold the writes; an entering write waits until it is 0. */
const HOLDS = 0;
/** Writes that entered and have not ended. */
const WRITES = 1;

const counts = sharedCounts();

/** Threads that this one starts get the same memory. */
function sharedCounts(): Int32Array {
  const known = getEnvironmentData(NAME) as SharedArrayBuffer | undefined;
  const buffer = known ?? new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
  if (known === undefined) setEnvironmentData(NAME, buffer);
  return new Int32Array(buffer);
}

/** Runs a write; it starts at once unless writes are held. */
export function passGate<T>(write: () => Promise<T>): Promise<T> {
  return enter() ? leaving(write) : waiting(write);
}

async function waiting<T>(write: () => Promise<T>): Promise<T> {
  do await changed(HOLDS, (holds) => holds === 0);
  while (!enter());
  return await leaving(write);
}

function enter(): boolean {
  Atomics.add(counts, WRITES, 1);
  // Counted first and looked at second, as `holdWrites` does: one of the two sees the other.
  if (Atomics.load(counts, HOLDS) === 0) return true;
  lower(WRITES);
  return false;
}

async function leaving<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } finally {
    lower(WRITES);
  }
}

/**
 * Runs the step while nothing is written: writes that have begun end first, others wait. Throws
 * `not_ready` when those under way do not end in time; the step has to bound its own time.
 */
export async function holdWrites<T>(timeoutMs: number, step: () => Promise<T>): Promise<T> {
  Atomics.add(counts, HOLDS, 1);
  try {
    const ended = changed(WRITES, (writes) => writes === 0);
    if ((await waitFor(ended, { clock: systemClock, timeoutMs })) === late)
      throw new StewardError("not_ready", `a write has not ended within ${timeoutMs} ms`, {
        remedy: "see whether the disk answers, then try again",
      });
    return await step();
  } finally {
    lower(HOLDS);
  }
}

function lower(at: number): void {
  Atomics.sub(counts, at, 1);
  Atomics.notify(counts, at);
}

async function changed(at: number, isMet: (count: number) => boolean): Promise<void> {
  for (let count = Atomics.load(counts, at); !isMet(count); count = Atomics.load(counts, at))
    await Atomics.waitAsync(counts, at, count).value;
}
