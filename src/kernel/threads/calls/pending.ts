/**
 * The open calls of one thread: each ends once, by its answer, its caller, its deadline or the
 * thread's end.
 */
import type { Clock } from "../../base/clock.ts";
import { readError } from "../../base/error-message.ts";
import { StewardError } from "../../base/errors.ts";
import { CREDIT, type FromThread } from "./messages.ts";
import type { ThreadReply } from "../hosted-service.ts";

/** Handlers of one open call. */
interface Pending {
  reply(reply: Extract<FromThread, { readonly kind: "reply" }>): void;
  chunk(body: Uint8Array): void;
  end(error: StewardError | undefined): void;
}

/** The port to the thread. */
export interface PendingPort {
  cancel(id: number): void;
  credit(id: number): void;
}

export interface Waiting {
  readonly id: number;
  readonly reply: Promise<ThreadReply>;
}

const MAX_CALLS = 1024;

export class PendingCalls {
  readonly #thread: string;
  readonly #clock: Clock;
  readonly #port: PendingPort;
  readonly #open = new Map<number, Pending>();
  #nextId = 1;
  #dropped = 0;

  constructor(thread: string, clock: Clock, port: PendingPort) {
    this.#thread = thread;
    this.#clock = clock;
    this.#port = port;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Number of calls so far. */
  get begun(): number {
    return this.#nextId - 1;
  }

  /** Messages for calls that are no longer open. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Throws `exhausted` when there are too many. */
  open(signal: AbortSignal, deadlineMs: number): Waiting {
    if (this.#open.size >= MAX_CALLS)
      throw new StewardError("exhausted", `${this.#thread} has ${MAX_CALLS} calls in flight`, {
        retryAfterMs: 1000,
      });
    signal.throwIfAborted();
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<ThreadReply>();
    /** Removes the call; false when it had ended. */
    const release = (): boolean => {
      timer[Symbol.dispose]();
      signal.removeEventListener("abort", aborted);
      return this.#open.delete(id);
    };
    const giveUp = (error: unknown): void => {
      if (release()) this.#port.cancel(id);
      reject(error);
      stream.end(error);
    };
    const aborted = (): void => giveUp(signal.reason);
    const stream = new ChunkQueue(
      () => this.#port.credit(id),
      () => giveUp(undefined),
    );
    const timer = this.#clock.timer(this.#clock.monotonic() + deadlineMs, () =>
      giveUp(
        new StewardError("deadline", `${this.#thread} did not answer within ${deadlineMs} ms`),
      ),
    );
    signal.addEventListener("abort", aborted, { once: true });
    this.#open.set(id, {
      reply({ meta, body, pieces, more }) {
        timer[Symbol.dispose]();
        if (!more) release();
        resolve({ meta, body, pieces, chunks: more ? stream : undefined });
      },
      chunk: (body) => stream.push(body),
      end(error) {
        release();
        stream.end(error);
        reject(error ?? new StewardError("internal", "a call ended without an answer"));
      },
    });
    return { id, reply: promise };
  }

  /** Handles a message of the thread about a call. */
  receive(message: Extract<FromThread, { readonly id: number }>): void {
    const pending = this.#open.get(message.id);
    if (pending === undefined) {
      this.#dropped += 1;
      return;
    }
    if (message.kind === "reply") pending.reply(message);
    else if (message.kind === "chunk") pending.chunk(message.body);
    else
      pending.end(
        message.error === undefined
          ? undefined
          : readError(`thread ${this.#thread}`, message.error),
      );
  }

  /** Ends every call. */
  fail(error: StewardError): void {
    for (const pending of this.#open.values()) pending.end(error);
  }
}

/** Received chunks of a stream that were not read yet; bounded by the stream's credit. */
class ChunkQueue implements AsyncIterable<Uint8Array> {
  readonly #taken: () => void;
  readonly #left: () => void;
  readonly #chunks: Uint8Array[] = [];
  #ended: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(taken: () => void, left: () => void) {
    this.#taken = taken;
    this.#left = left;
  }

  push(chunk: Uint8Array): void {
    if (this.#chunks.length < CREDIT) this.#chunks.push(chunk);
    else this.end(new StewardError("internal", "a stream sent more than its credit"));
    this.#wake?.();
  }

  /** The first end counts; an error is thrown after the chunks before it were read. */
  end(error: unknown): void {
    this.#ended ??= { error };
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk !== undefined) {
          this.#taken();
          yield chunk;
        } else if (this.#ended === undefined)
          await new Promise<void>((resolve) => (this.#wake = resolve));
        else if (this.#ended.error === undefined) return;
        else throw this.#ended.error;
      }
    } finally {
      this.#left();
    }
  }
}
