/**
 * What LMDB has under way in this process. `process.exit`, and a thrown error that nobody catches,
 * run the handlers at the end of the process while LMDB's own threads still store: a quarter of
 * such ends hung for ever when that was tried (docs/decisions/state-exit.md). So who ends the
 * process first lets LMDB come to rest. Counted for the process as a whole, since the end is.
 */
import { setTimeout } from "node:timers/promises";
import { StewardError } from "../base/errors.ts";

const underWay = new Set<Promise<unknown>>();
let halted = false;

/**
 * Runs a step of LMDB that other threads take part in. Rejects with `not_ready` once writes are
 * halted.
 */
export function whileStoring<T>(step: () => Promise<T>): Promise<T> {
  if (halted) return Promise.reject(new StewardError("not_ready", "the process ends"));
  const running = step();
  underWay.add(running);
  const done = (): void => void underWay.delete(running);
  running.then(done, done);
  return running;
}

/**
 * Lets no further step begin and waits for those under way; false when they did not end in time.
 * For the end of the process only.
 */
export async function haltWrites(timeoutMs: number): Promise<boolean> {
  halted = true;
  const waiting = new AbortController();
  const late = setTimeout(timeoutMs, false, { signal: waiting.signal }).catch(() => false);
  try {
    return await Promise.race([Promise.allSettled(underWay).then(() => true), late]);
  } finally {
    waiting.abort();
  }
}
