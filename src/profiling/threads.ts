/**
 * Inspector access to all threads of the process through one session. No port is opened, and
 * threads need no code for it.
 */
import { Session } from "node:inspector/promises";
import { StewardError } from "../kernel/base/errors.ts";

/** A thread with an attached session. */
export interface InspectedThread {
  /** `main`, or the worker's own name, e.g. `monitor`; `worker 3` when it has none. */
  readonly name: string;
  /** Whether a request is pending: the thread is blocked outside of JavaScript. */
  busy(): boolean;
  /** Calls a method of the inspector protocol. Rejects when the method fails or the thread ends. */
  ask<T>(method: string, parameters?: object): Promise<T>;
}

/** Attached threads, until closed. */
export interface InspectedThreads {
  list(): readonly InspectedThread[];
  /** Detaches and ends everything started through it. */
  close(): void;
}

/** `joined` is called with this thread and each worker, including later ones. */
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
  try {
    await session.post("NodeWorker.enable", { waitForDebuggerOnStart: false });
  } catch (error) {
    session.disconnect();
    throw error;
  }
  return {
    list: () => [main, ...workers.values()],
    close() {
      for (const worker of workers.values()) worker.end();
      workers.clear();
      session.disconnect();
    },
  };
}

/** The runtime titles them `[worker 3] monitor`. */
function threadName(title: string): string {
  const [, number = "", name = ""] = /^\[worker (\d+)\]\s*(.*)$/.exec(title) ?? [];
  return name === "" ? `worker ${number}` : name;
}

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message?: string };
}

/** Messages to a worker are JSON wrapped in messages to its thread's session. */
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
