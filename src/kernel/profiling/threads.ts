/**
 * The threads of this process as a profiler sees them: this one, and every worker thread, through
 * one inspector session. Nothing listens on a port, and no thread has code of its own for it.
 */
import { Session } from "node:inspector/promises";
import { StewardError } from "../base/errors.ts";

/** A thread that can be asked. */
export interface InspectedThread {
  /** `main`, or the worker's own name, e.g. `monitor`; `worker 3` when it has none. */
  readonly name: string;
  /**
   * Whether it has not answered yet what it was asked before: it waits outside of JavaScript, and
   * runs nothing.
   */
  busy(): boolean;
  /**
   * Asks by a method of the inspector's protocol. Rejects when the method fails, or the thread
   * ends.
   */
  ask<T>(method: string, parameters?: object): Promise<T>;
}

/** What is attached to until it is closed. */
export interface InspectedThreads {
  list(): readonly InspectedThread[];
  /** Detaches: what was begun through it ends. */
  close(): void;
}

/** `joined` is told of this thread and of each worker, those that start later included. */
export async function inspectThreads(
  joined: (thread: InspectedThread) => void,
): Promise<InspectedThreads> {
  const session = new Session();
  session.connect();
  const main: InspectedThread = {
    name: "main",
    busy: () => false,
    ask: async <T>(method: string, parameters?: object) =>
      (await session.post(method, parameters)) as T,
  };
  const workers = new Map<string, AttachedWorker>();
  session.on("NodeWorker.attachedToWorker", ({ params: { sessionId, workerInfo } }) => {
    const worker = new AttachedWorker(threadName(workerInfo.title), (message) =>
      session.post("NodeWorker.sendMessageToWorker", { sessionId, message }),
    );
    workers.set(sessionId, worker);
    joined(worker);
  });
  session.on("NodeWorker.receivedMessageFromWorker", ({ params: { sessionId, message } }) =>
    workers.get(sessionId)?.receive(message),
  );
  session.on("NodeWorker.detachedFromWorker", ({ params: { sessionId } }) => {
    workers.get(sessionId)?.end();
    workers.delete(sessionId);
  });
  joined(main);
  await session.post("NodeWorker.enable", { waitForDebuggerOnStart: false });
  return {
    list: () => [main, ...workers.values()],
    close() {
      for (const worker of workers.values()) worker.end();
      workers.clear();
      session.disconnect();
    },
  };
}

/** `[worker 3] monitor` is how the runtime titles them. */
function threadName(title: string): string {
  const [, number = "", name = ""] = /^\[worker (\d+)\]\s*(.*)$/.exec(title) ?? [];
  return name === "" ? `worker ${number}` : name;
}

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message?: string };
}

/** Messages to a worker are JSON inside of messages to its thread's session. */
class AttachedWorker implements InspectedThread {
  readonly name: string;
  readonly #send: (message: string) => Promise<unknown>;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  #lastId = 0;

  constructor(name: string, send: (message: string) => Promise<unknown>) {
    this.name = name;
    this.#send = send;
  }

  busy(): boolean {
    return this.#pending.size > 0;
  }

  async ask<T>(method: string, params: object = {}): Promise<T> {
    const id = (this.#lastId += 1);
    const answer = Promise.withResolvers<unknown>();
    this.#pending.set(id, answer);
    await this.#send(JSON.stringify({ id, method, params })).catch((error: unknown) => {
      this.#pending.delete(id);
      answer.reject(error);
    });
    return (await answer.promise) as T;
  }

  receive(message: string): void {
    const { id = 0, result, error } = JSON.parse(message) as Answer;
    const answer = this.#pending.get(id);
    this.#pending.delete(id);
    if (error === undefined) answer?.resolve(result);
    else
      answer?.reject(
        new StewardError(
          "internal",
          `the profiler of the thread ${this.name} refused: ${error.message ?? "no reason"}`,
        ),
      );
  }

  end(): void {
    for (const answer of this.#pending.values())
      answer.reject(new StewardError("not_ready", `the thread ${this.name} ended`));
    this.#pending.clear();
  }
}
