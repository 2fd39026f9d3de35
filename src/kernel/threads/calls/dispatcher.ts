/**
 * Runs the calls of one thread on the answering side: each with its own abort signal; streams are
 * limited by their credit.
 */
import type { Clock } from "../../base/clock.ts";
import { writeError } from "../../base/error-message.ts";
import { StewardError } from "../../base/errors.ts";
import { createCall } from "../../service.ts";
import type { Answer } from "./answers.ts";
import { CREDIT, postedBytes, type CallMessage, type FromThread } from "./messages.ts";

/** Calls whose handlers have not ended, including cancelled ones. */
const MAX_RUNNING = 2048;

/** Posts a message; the listed buffers are transferred. */
export type Post = (message: FromThread, transfer?: readonly ArrayBuffer[]) => void;

interface Running {
  readonly stop: AbortController;
  /** Set when the call was cancelled: nothing may be sent any more. */
  silent: boolean;
  credit: number;
  wake: (() => void) | undefined;
}

export class Dispatcher {
  readonly #answer: Answer;
  readonly #post: Post;
  readonly #clock: Clock;
  readonly #running = new Map<number, Running>();

  constructor(answer: Answer, post: Post, clock: Clock) {
    this.#answer = answer;
    this.#post = post;
    this.#clock = clock;
  }

  get size(): number {
    return this.#running.size;
  }

  /** Starts the handler; returns at once. */
  call(message: CallMessage): void {
    if (this.#running.size >= MAX_RUNNING) {
      const error = new StewardError("exhausted", "too many calls are in flight", {
        retryAfterMs: 1000,
      });
      return this.#post({ kind: "end", id: message.id, error: writeError(error) });
    }
    const running: Running = {
      stop: new AbortController(),
      silent: false,
      credit: CREDIT,
      wake: undefined,
    };
    this.#running.set(message.id, running);
    void this.#run(message, running).finally(() => this.#running.delete(message.id));
  }

  cancel(id: number): void {
    const running = this.#running.get(id);
    if (running === undefined) return;
    running.silent = true;
    this.#abort(
      running,
      new StewardError("cancelled", "the caller no longer waits for the answer"),
    );
  }

  credit(id: number): void {
    const running = this.#running.get(id);
    if (running === undefined) return;
    running.credit += 1;
    running.wake?.();
  }

  /** Cancels every call; each is answered with the reason. */
  stop(): void {
    for (const running of this.#running.values())
      this.#abort(running, new StewardError("cancelled", "the process is stopping"));
  }

  #abort(running: Running, reason: StewardError): void {
    running.stop.abort(reason);
    running.wake?.();
  }

  /** Never rejects. */
  async #run(message: CallMessage, running: Running): Promise<void> {
    const { id, deadlineMs, requestId, caller } = message;
    const { signal } = running.stop;
    const timer = this.#clock.timer(this.#clock.monotonic() + deadlineMs, () =>
      this.#abort(running, new StewardError("deadline", `took longer than ${deadlineMs} ms`)),
    );
    try {
      const { meta, body, pieces, chunks } = await this.#answer(
        message.method,
        message.body,
        message.encoding,
        createCall({ signal, requestId, ...caller }),
      );
      timer[Symbol.dispose]();
      const { bytes, moved } = postedBytes(body);
      this.#send(
        running,
        { kind: "reply", id, meta, body: bytes, pieces, more: chunks !== undefined },
        moved,
      );
      if (chunks === undefined) return;
      for await (const chunk of chunks) await this.#sendChunk(id, running, chunk);
      this.#send(running, { kind: "end", id });
    } catch (thrown) {
      this.#send(running, {
        kind: "end",
        id,
        error: writeError(signal.aborted ? signal.reason : thrown),
      });
    } finally {
      timer[Symbol.dispose]();
    }
  }

  async #sendChunk(id: number, running: Running, chunk: Uint8Array): Promise<void> {
    while (running.credit === 0 && !running.stop.signal.aborted)
      await new Promise<void>((resolve) => (running.wake = resolve));
    running.stop.signal.throwIfAborted();
    running.credit -= 1;
    const { bytes, moved } = postedBytes(chunk);
    this.#send(running, { kind: "chunk", id, body: bytes }, moved);
  }

  #send(running: Running, message: FromThread, moved: readonly ArrayBuffer[] = []): void {
    if (!running.silent) this.#post(message, moved);
  }
}
