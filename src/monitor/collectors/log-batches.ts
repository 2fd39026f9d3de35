/**
 * Reads a log batch after batch. What the control plane's outcome was is one thing, what became of
 * a batch on our side another.
 */
import type { Operation } from "../capability/operation.ts";
import type { Tick } from "./collector.ts";

/**
 * Hands each batch on before the next one is asked for. Only failures of the control plane are
 * remembered as the operation's; after any, the reading is given up.
 */
export async function eachBatch(
  tick: Pick<Tick, "call">,
  operation: Operation,
  batches: AsyncIterable<unknown[]>,
  accept: (records: readonly unknown[]) => Promise<unknown>,
): Promise<void> {
  const reading = batches[Symbol.asyncIterator]();
  try {
    for (;;) {
      const batch = await tick.call(operation, () => reading.next());
      if (batch.done === true) return;
      await accept(batch.value);
    }
  } finally {
    await reading.return?.();
  }
}
