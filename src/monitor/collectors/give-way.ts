/** Going over a large list without holding the thread: flows, snapshots and probes get their turn in between. */
import { setImmediate } from "node:timers/promises";

/** Entities looked at in one stretch: below 10 ms for devices whose series are known, some 50 ms where all are new. */
const STRETCH = 200;

/** Visits all in order, with a break after every 200; rejects with the signal's reason at a break. */
export async function eachGivingWay<T>(items: readonly T[], signal: AbortSignal, visit: (item: T) => void): Promise<void> {
  for (const [at, item] of items.entries()) {
    if (at > 0 && at % STRETCH === 0) await giveWay(signal);
    visit(item);
  }
}

/** One break. */
export async function giveWay(signal: AbortSignal): Promise<void> {
  await setImmediate();
  signal.throwIfAborted();
}
