/** Texts in shared memory for the tasks of a large component, read from the source once. */
import type { SharedTexts } from "../../../workers/tasks/verify.ts";
import type { TextSource } from "./sign-phase.ts";

export interface SharedTextStore {
  /** The texts as a task sees them; their order is that of `texts`. */
  share(texts: readonly number[]): Promise<SharedTexts>;
}

/** Address space of one buffer; only what is written becomes memory. */
const MAX_BYTES = 2 ** 30;
const GROW_BYTES = 2 ** 24;

interface Place {
  readonly start: number;
  readonly length: number;
}

/**
 * A store over a source. When the buffer is full it begins a new one and reads again what is
 * needed; tasks under way keep the one they have.
 */
export function createSharedTexts(
  source: TextSource,
  limitBytes: number = MAX_BYTES,
): SharedTextStore {
  let buffer = createBuffer(limitBytes);
  let used = 0;
  let places = new Map<number, Place>();
  let queue: Promise<unknown> = Promise.resolve();

  function renew(atLeast: number): void {
    buffer = createBuffer(Math.max(limitBytes, atLeast));
    used = 0;
    places = new Map();
  }

  function put(text: number, bytes: Uint8Array): void {
    while (used + bytes.length > buffer.byteLength)
      buffer.grow(Math.min(buffer.maxByteLength, buffer.byteLength + GROW_BYTES));
    new Uint8Array(buffer, used, bytes.length).set(bytes);
    places.set(text, { start: used, length: bytes.length });
    used += bytes.length;
  }

  async function load(texts: readonly number[]): Promise<SharedTexts> {
    const absent = texts.filter((text) => !places.has(text));
    const read = await source(absent);
    const total = read.reduce((sum, bytes) => sum + (bytes?.length ?? 0), 0);
    if (used + total > buffer.maxByteLength) {
      renew(total);
      return await load(texts);
    }
    for (const [at, text] of absent.entries()) put(text, read[at] ?? new Uint8Array(0));
    const own = texts.map((text) => places.get(text) ?? { start: 0, length: 0 });
    return {
      bytes: buffer,
      starts: Float64Array.from(own, ({ start }) => start),
      lengths: Uint32Array.from(own, ({ length }) => length),
      ids: Uint32Array.from(texts),
    };
  }

  return {
    // One after the other, so that no text is read twice.
    share(texts) {
      const loaded = queue.then(() => load(texts));
      queue = loaded.catch(() => undefined);
      return loaded;
    },
  };
}

function createBuffer(maxBytes: number): SharedArrayBuffer {
  return new SharedArrayBuffer(0, { maxByteLength: maxBytes });
}
