/**
 * Tracks LMDB operations in progress in this process. `process.exit` and uncaught errors run exit
 * handlers while LMDB's threads still store, and a quarter of such exits hung
 * (docs/decisions/state-exit.md). So an exit first waits for LMDB. Process-wide, because the exit
 * is.
 */
import { systemClock } from "../../base/clock.ts";
import { StewardError } from "../../base/errors.ts";
import { keepAlive, late, waitFor } from "../../async/wait.ts";
import { passGate } from "./write-gate.ts";

const underWay = new Set<Promise<unknown>>();
let halted = false;

/**
 * Runs an LMDB operation that uses other threads, after those that hold the writes. Rejects with
 * `not_ready` once writes are halted.
 */
export function whileStoring<T>(step: () => Promise<T>): Promise<T> {
  if (halted) return Promise.reject(new StewardError("not_ready", "the process ends"));
  const running = passGate(step);
  underWay.add(running);
  const done = (): void => void underWay.delete(running);
  running.then(done, done);
  return running;
}

/**
 * Blocks further operations and waits for the running ones; false when they did not finish in time.
 * Call only before the process exits.
 */
export async function haltWrites(timeoutMs: number): Promise<boolean> {
  halted = true;
  using _alive = keepAlive();
  const ended = Promise.allSettled(underWay);
  return (await waitFor(ended, { clock: systemClock, timeoutMs })) !== late;
}
