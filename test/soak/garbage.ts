/**
 * Collects the garbage of a Node process that runs as shipped, from outside: SIGUSR1 opens its
 * inspector on loopback, and each of its threads is asked in turn. What is resident afterwards is
 * in use, or cannot be given back.
 */
import { setTimeout as sleep } from "node:timers/promises";

/**
 * What a thread holds after a collection, in MiB: objects with the buffers outside of the heap, and
 * compiled code with its tables.
 */
export interface LiveHeap {
  readonly dataMiB: number;
  readonly codeMiB: number;
}

/** All threads together. */
export interface Collection extends LiveHeap {
  readonly threads: number;
}

/** Lets the process choose the port; for NODE_OPTIONS. */
export const INSPECTOR_PORT = "--inspect-port=127.0.0.1:0";

const MIB = 2 ** 20;
const ANSWER_MS = 5_000;
const ATTACH_MS = 1_500;
/** Finalizers run after a collection, and what they let go is gone after the next one. */
const ROUNDS = 2;
/** Run in each thread. Code lies in spaces of its own. */
const MEASURE = `(() => {
  const sizes = { data: process.memoryUsage().external, code: 0 };
  for (const { space_name: name, space_used_size: size } of process.getBuiltinModule("node:v8").getHeapSpaceStatistics()) sizes[/code|trusted/.test(name) ? "code" : "data"] += size;
  return sizes;
})()`;
const ADDRESS = /^Debugger listening on (ws:\S+)$/;

type Result = Readonly<Record<string, unknown>>;
type Ask = (method: string, params?: Result) => Promise<Result | undefined>;

/**
 * Asks the process to open its inspector, and reads the address from its lines. @throws when it
 * says none in time.
 */
export async function openInspector(pid: number, lines: readonly string[]): Promise<string> {
  process.kill(pid, "SIGUSR1");
  for (let waitedMs = 0; waitedMs < ANSWER_MS; waitedMs += 100) {
    const address = lines
      .map((line) => ADDRESS.exec(line)?.[1])
      .find((found) => found !== undefined);
    if (address !== undefined) return address;
    await sleep(100);
  }
  throw new Error("the daemon did not open its inspector");
}

/**
 * Collects in all threads. A thread that does not answer in time is left out, e.g. a worker that
 * blocks until there is work.
 */
export async function collectGarbage(address: string): Promise<Collection> {
  const inspector = await connect(address);
  try {
    const threads = [inspector.ask, ...(await inspector.workers())];
    const heaps: LiveHeap[] = [];
    for (const ask of threads) {
      for (let round = 0; round < ROUNDS; round += 1) await ask("HeapProfiler.collectGarbage");
      const { value } = ((
        await ask("Runtime.evaluate", { expression: MEASURE, returnByValue: true })
      )?.["result"] ?? {}) as { value?: { data: number; code: number } };
      if (value !== undefined) heaps.push({ dataMiB: value.data / MIB, codeMiB: value.code / MIB });
    }
    const sum = (of: (heap: LiveHeap) => number): number =>
      heaps.reduce((total, heap) => total + of(heap), 0);
    return {
      threads: heaps.length,
      dataMiB: sum(({ dataMiB }) => dataMiB),
      codeMiB: sum(({ codeMiB }) => codeMiB),
    };
  } finally {
    await inspector.close();
  }
}

interface Inspector {
  readonly ask: Ask;
  /** One for each worker thread. */
  workers(): Promise<readonly Ask[]>;
  close(): Promise<void>;
}

interface Message {
  readonly id?: number;
  readonly result?: Result;
  readonly method?: string;
  readonly params?: Readonly<Record<string, string>>;
}

async function connect(address: string): Promise<Inspector> {
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve, { once: true });
    socket.addEventListener("error", () => reject(new Error("the inspector does not answer")), {
      once: true,
    });
  });
  const waiting = new Map<string, (result: Result | undefined) => void>();
  const sessions: string[] = [];
  let lastId = 0;
  // Ids of a session are its own, and the process itself is the session without a name.
  const call = (session: string, send: (id: number) => void): Promise<Result | undefined> => {
    const id = (lastId += 1);
    const key = `${session} ${id}`;
    return new Promise((resolve) => {
      const timer = setTimeout(() => answer(key, undefined), ANSWER_MS);
      waiting.set(key, (result) => {
        clearTimeout(timer);
        resolve(result);
      });
      send(id);
    });
  };
  const answer = (key: string, result: Result | undefined): void => {
    waiting.get(key)?.(result);
    waiting.delete(key);
  };
  const handle = (session: string, { id, result, method, params = {} }: Message): void => {
    if (id !== undefined) answer(`${session} ${id}`, result);
    else if (method === "NodeWorker.attachedToWorker") sessions.push(params["sessionId"] ?? "");
    else if (method === "NodeWorker.receivedMessageFromWorker")
      handle(params["sessionId"] ?? "", JSON.parse(params["message"] ?? "{}") as Message);
  };
  socket.addEventListener("message", ({ data }) => handle("", JSON.parse(String(data)) as Message));
  const post = (method: string, params: Result = {}): Promise<Result | undefined> =>
    call("", (id) => socket.send(JSON.stringify({ id, method, params })));
  return {
    ask: post,
    async workers() {
      await post("NodeWorker.enable", { waitForDebuggerOnStart: false });
      await sleep(ATTACH_MS);
      return sessions.map(
        (sessionId): Ask =>
          (method, params = {}) =>
            call(
              sessionId,
              (id) =>
                void post("NodeWorker.sendMessageToWorker", {
                  sessionId,
                  message: JSON.stringify({ id, method, params }),
                }),
            ),
      );
    },
    async close() {
      await post("NodeWorker.disable");
      socket.close();
    },
  };
}
