/** Iterates over large lists while yielding to the event loop. */
import { nextTurn } from "../../kernel/async/turns.ts";

/** Entities per slice: about 2 ms for known series, 10 ms for new ones. */
const STRETCH = 50;

/** Visits all items in order, yielding after every 50; rejects with the signal's reason. */
export async function forEachYielding<T>(
  items: readonly T[],
  signal: AbortSignal,
  visit: (item: T) => void,
): Promise<void> {
  for (const [at, item] of items.entries()) {
    if (at > 0 && at % STRETCH === 0) await nextTurn(signal);
    visit(item);
  }
}
