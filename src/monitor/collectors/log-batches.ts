/**
 * Reads a log in batches, and keeps failures of the control plane apart from failures to process a
 * batch.
 */
import type { Operation } from "../capability/operation.ts";
import type { Tick } from "./collector.ts";

/**
 * Processes each batch before fetching the next. Only control-plane failures are recorded for the
 * operation; any failure ends the read.
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
