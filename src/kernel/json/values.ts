/**
 * The streaming reader of large JSON bodies: lists of a control API, bodies of receivers, pages of
 * an archive, JSON Lines. It holds one element and one chunk, never the body; the budget is
 * enforced while reading; it yields to the event loop after every slice.
 */
import { type Clock, systemClock } from "../base/clock.ts";
import { brokenJson, type JsonBudget, type JsonPath } from "./budget.ts";
import { orAborted } from "../async/wait.ts";
import { createWalker, type Missing, type Walker } from "./walker.ts";
import { Turns } from "../async/turns.ts";

/**
 * Bytes scanned and parsed at once: about 0.3 ms of work. Only a single larger element takes
 * longer.
 */
const STEP_BYTES = 32 * 1024;

export interface ValuesOptions {
  /** Yields to the event loop after this time, including the consumer's. */
  readonly sliceMs: number;
  readonly signal: AbortSignal;
  /** What counts as an empty list. Default: nothing, refuse. */
  readonly missing?: Missing;
  /** Default: the machine's clock. */
  readonly clock?: Clock;
}

/** Elements in non-empty batches, iterated once; and the scalars beside the list. */
export interface Values extends AsyncIterable<unknown[]> {
  /**
   * Scalar members beside the list, e.g. `next` and `count`; at most 64; complete after the last
   * batch.
   */
  readonly beside: ReadonlyMap<string, unknown>;
}

/**
 * Elements of the list at a path, or concatenated values (also JSON Lines), parsed as they arrive.
 * Throws StewardError: `invalid` with the byte's offset for what is not JSON, ends early or has no
 * list there; `too_large` beyond the budget; the signal's reason at once; the source's own errors.
 */
export function values(
  source: AsyncIterable<Uint8Array>,
  at: "concatenated" | JsonPath,
  budget: JsonBudget,
  options: ValuesOptions,
): Values {
  const walker = createWalker(at, budget, options.missing ?? "refuse");
  const batches = readBatches(source, walker, options);
  return { beside: walker.beside, [Symbol.asyncIterator]: () => batches };
}

async function* readBatches(
  source: AsyncIterable<Uint8Array>,
  walker: Walker,
  options: ValuesOptions,
): AsyncGenerator<unknown[], void, undefined> {
  const { signal, sliceMs, clock = systemClock } = options;
  const chunks = source[Symbol.asyncIterator]();
  const turns = new Turns({ sliceMs, clock });
  try {
    for (;;) {
      const next = await orAborted(chunks.next(), signal);
      if (next.done === true) break;
      for (let from = 0; from < next.value.length; from += STEP_BYTES) {
        const batch = walker.feed(next.value.subarray(from, from + STEP_BYTES));
        if (batch.length > 0) yield batch;
        if (turns.over) await turns.give();
        signal.throwIfAborted();
      }
    }
    const last = walker.finish();
    if (last.length > 0) yield last;
  } finally {
    // Not awaited: a source that hangs must not block a consumer that has left.
    void Promise.resolve(chunks.return?.()).catch(() => undefined);
  }
}

/** Parses one small complete value within the budget. Throws as `values` does. */
export function parseValue(bytes: Uint8Array, budget: JsonBudget): unknown {
  const walker = createWalker("concatenated", budget, "refuse");
  const all = [...walker.feed(bytes), ...walker.finish()];
  if (all.length !== 1)
    throw brokenJson(bytes.length, all.length === 0 ? "it is empty" : "more than one value");
  return all[0];
}
