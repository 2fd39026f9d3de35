/**
 * Holds the writes of this process, in all of its threads, while another process opens the stores.
 * Opening an LMDB file stores the number of the newest transaction, as it was a moment before, in
 * the lock file. A commit in between would be lost: the next write starts from the one before
 * (docs/decisions/state-backup.md).
 */
import { getEnvironmentData, setEnvironmentData, threadId } from "node:worker_threads";
import { systemClock } from "../../base/clock.ts";
import { assert, StewardError } from "../../base/errors.ts";
import { late, waitFor } from "../../async/wait.ts";

const NAME = "steward.state.write-gate";
/** How many hold the writes; an entering write waits until it is 0. */
const HOLDS = 0;
/** More threads than ever write at once. */
const THREADS = 16;
/** Behind `HOLDS`: the id of each writing thread plus one, 0 for a free place. */
const OWNERS = 1;
/** Behind them, at the same places: writes of that thread that entered and have not ended. */
const WRITES = OWNERS + THREADS;

const counts = sharedCounts();
/** Where this thread counts its writes; undefined before the first. */
let own: number | undefined;

/** Threads that this one starts get the same memory. */
function sharedCounts(): Int32Array {
  const known = getEnvironmentData(NAME) as SharedArrayBuffer | undefined;
  const size = (WRITES + THREADS) * Int32Array.BYTES_PER_ELEMENT;
  const buffer = known ?? new SharedArrayBuffer(size);
  if (known === undefined) setEnvironmentData(NAME, buffer);
  return new Int32Array(buffer);
}

function ownWrites(): number {
  for (let place = 0; own === undefined && place < THREADS; place += 1)
    if (Atomics.compareExchange(counts, OWNERS + place, 0, threadId + 1) === 0)
      own = WRITES + place;
  assert(own !== undefined, `at most ${THREADS} threads write`);
  return own;
}

/**
 * To be called when a thread has exited: a thread that was terminated does not count its writes
 * down. LMDB has ended them by then.
 */
export function threadExited(exited: number): void {
  for (let place = 0; place < THREADS; place += 1) {
    if (Atomics.load(counts, OWNERS + place) !== exited + 1) continue;
    Atomics.store(counts, WRITES + place, 0);
    Atomics.notify(counts, WRITES + place);
    Atomics.store(counts, OWNERS + place, 0);
  }
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
  const writes = ownWrites();
  Atomics.add(counts, writes, 1);
  // Counted first and looked at second, as `holdWrites` does: one of the two sees the other.
  if (Atomics.load(counts, HOLDS) === 0) return true;
  lower(writes);
  return false;
}

async function leaving<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } finally {
    lower(ownWrites());
  }
}

/**
 * Runs the step while nothing is written: writes that have begun end first, others wait. Throws
 * `not_ready` when those under way do not end in time; the step has to bound its own time.
 */
export async function holdWrites<T>(timeoutMs: number, step: () => Promise<T>): Promise<T> {
  Atomics.add(counts, HOLDS, 1);
  try {
    if ((await waitFor(allEnded(), { clock: systemClock, timeoutMs })) === late)
      throw new StewardError("not_ready", `a write has not ended within ${timeoutMs} ms`, {
        remedy: "see whether the disk answers, then try again",
      });
    return await step();
  } finally {
    lower(HOLDS);
  }
}

/** While writes are held no count rises for good, so one look at each suffices. */
async function allEnded(): Promise<void> {
  for (let place = 0; place < THREADS; place += 1)
    await changed(WRITES + place, (writes) => writes === 0);
}

function lower(at: number): void {
  Atomics.sub(counts, at, 1);
  Atomics.notify(counts, at);
}

async function changed(at: number, isMet: (count: number) => boolean): Promise<void> {
  for (let count = Atomics.load(counts, at); !isMet(count); count = Atomics.load(counts, at))
    await Atomics.waitAsync(counts, at, count).value;
}
