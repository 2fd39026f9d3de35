/**
 * Streams expositions from the telemetry thread to their readers with credit-based flow control.
 */
import { StewardError } from "../../base/errors.ts";
import { contentTypes } from "../exposition/text.ts";
import type { ExposeQuery, HostMessage, HostReply } from "../messages.ts";

/** The answer to a scrape. The body can be read once; breaking out of it cancels the rendering. */
export interface Exposition {
  readonly contentType: string;
  readonly body: AsyncIterable<Uint8Array>;
}

type Chunk = Extract<HostReply, { type: "chunk" }>;

interface Reader {
  readonly chunks: Uint8Array[];
  wake: (() => void) | undefined;
  ended: boolean;
  failure: StewardError | undefined;
}

/** The main thread's side of all running scrapes. */
export class Expositions {
  readonly #post: (message: HostMessage) => void;
  readonly #mark: () => number;
  readonly #readers = new Map<number, Reader>();
  #next = 0;

  /** `mark` flushes what was written so far, so that the answer includes it. */
  constructor(post: (message: HostMessage) => void, mark: () => number) {
    this.#post = post;
    this.#mark = mark;
  }

  open(query: ExposeQuery, signal: AbortSignal): Exposition {
    return { contentType: contentTypes[query.format], body: this.#read(query, signal) };
  }

  receive({ id, bytes, failure, last }: Chunk): void {
    const reader = this.#readers.get(id);
    if (!reader) return;
    if (bytes) reader.chunks.push(bytes);
    if (failure !== undefined)
      reader.failure = new StewardError("exhausted", `metrics cannot be pulled now: ${failure}`, {
        retryAfterMs: 1_000,
      });
    if (last) reader.ended = true;
    reader.wake?.();
  }

  /** Fails all unfinished answers after the thread was lost. */
  fail(reason: string): void {
    for (const reader of this.#readers.values()) {
      reader.failure = new StewardError("not_ready", `metrics cannot be pulled: ${reason}`);
      reader.ended = true;
      reader.wake?.();
    }
  }

  async *#read(query: ExposeQuery, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    signal.throwIfAborted();
    const id = this.#next;
    this.#next += 1;
    const reader: Reader = { chunks: [], wake: undefined, ended: false, failure: undefined };
    this.#readers.set(id, reader);
    const leave = (): void => reader.wake?.();
    signal.addEventListener("abort", leave);
    this.#post({ type: "expose", mark: this.#mark(), id, query });
    try {
      yield* this.#chunks(id, reader, signal);
    } finally {
      signal.removeEventListener("abort", leave);
      this.#readers.delete(id);
      if (!reader.ended) this.#post({ type: "cancel", id });
    }
  }

  async *#chunks(id: number, reader: Reader, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    for (;;) {
      signal.throwIfAborted();
      const chunk = reader.chunks.shift();
      if (chunk) {
        yield chunk;
        this.#post({ type: "credit", id });
      } else if (reader.ended) {
        if (reader.failure) throw reader.failure;
        return;
      } else {
        await new Promise<void>((resolve) => (reader.wake = resolve));
      }
    }
  }
}
