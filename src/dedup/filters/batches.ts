/** Components side by side, so that small ones share the work of a message to a thread. */
import type { Component } from "./components.ts";

/** A batch is full at these sizes, or is one larger component. */
const BATCH_TEXTS = 4_096;
const BATCH_BYTES = 16 * 2 ** 20;
const BATCH_PAIRS = 65_536;

/** Batches of components, in order. */
export async function* batchComponents(
  components: AsyncIterable<Component>,
): AsyncGenerator<readonly Component[]> {
  let batch: Component[] = [];
  let [texts, bytes, pairs] = [0, 0, 0];
  for await (const component of components) {
    const full =
      texts + component.ids.length > BATCH_TEXTS ||
      bytes + component.textBytes > BATCH_BYTES ||
      pairs + component.equal.length > BATCH_PAIRS;
    if (full && batch.length > 0) {
      yield batch;
      batch = [];
      [texts, bytes, pairs] = [0, 0, 0];
    }
    batch.push(component);
    texts += component.ids.length;
    bytes += component.textBytes;
    pairs += component.equal.length;
  }
  if (batch.length > 0) yield batch;
}
