/**
 * Going over a large list without holding the thread: flows, snapshots and probes get their turn in
 * between.
 */
import { setImmediate } from "node:timers/promises";

/**
 * Entities looked at in one stretch: some 2 ms for devices whose series are known, 10 ms where all
 * are new.
 */
const STRETCH = 50;

/**
 * Visits all in order, with a break after every 50; rejects with the signal's reason at a break.
 */
export async function eachGivingWay<T>(
  items: readonly T[],
  signal: AbortSignal,
  visit: (item: T) => void,
): Promise<void> {
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
