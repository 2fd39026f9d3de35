/**
 * The client of bench/status.ts: so many connections, each asking again when its answer is whole,
 * in a thread of its own. It reads into one buffer a connection and counts: of a long answer, an
 * HTTP library's chunks would cost the two cores more than the server does.
 */
import { connect, type Socket } from "node:net";
import { parentPort } from "node:worker_threads";

/** What to ask, for how long. */
export interface LatencyRequest {
  readonly port: number;
  readonly path: string;
  readonly ms: number;
  readonly connections: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Milliseconds of each answer. */
export interface LatencyOutcome {
  readonly tookMs: readonly number[];
  readonly bytes: number;
  readonly error?: string;
}

const READ_BYTES = 1 << 20;
const HEAD_END = "\r\n\r\n";

/**
 * Counts one answer after the other. @throws what `head` throws of a head that is no 200 with a
 * length.
 */
class Answers {
  #head = Buffer.alloc(0);
  #left = 0;
  #bytes = 0;

  /** The body's bytes when the answer is whole. */
  take(chunk: Buffer): number | undefined {
    if (this.#left === 0) {
      this.#head = Buffer.concat([this.#head, chunk]);
      const end = this.#head.indexOf(HEAD_END);
      if (end < 0) return undefined;
      const body = this.#head.length - end - HEAD_END.length;
      this.#bytes = lengthIn(this.#head.toString("latin1", 0, end));
      this.#left = this.#bytes - body;
      this.#head = Buffer.alloc(0);
    } else this.#left -= chunk.length;
    if (this.#left < 0) throw new Error("more bytes than the answer has");
    return this.#left === 0 ? this.#bytes : undefined;
  }
}

function lengthIn(head: string): number {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (!head.startsWith("HTTP/1.1 200 ") || length === undefined)
    throw new Error(`no 200 with a length: ${head.slice(0, 200)}`);
  return Number(length);
}

function repeat(
  { port, path, headers = {} }: LatencyRequest,
  untilMs: number,
  tookMs: number[],
): Promise<number> {
  const request = [
    `GET ${path} HTTP/1.1`,
    "host: 127.0.0.1",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "",
    "",
  ].join("\r\n");
  const answers = new Answers();
  return new Promise((resolve, reject) => {
    let beganMs = performance.now();
    const callback = (count: number, buffer: Uint8Array): boolean => {
      try {
        const bytes = answers.take(Buffer.from(buffer.buffer, buffer.byteOffset, count));
        if (bytes === undefined) return true;
        tookMs.push(performance.now() - beganMs);
        if (performance.now() >= untilMs) socket.end(() => resolve(bytes));
        else {
          beganMs = performance.now();
          socket.write(request);
        }
      } catch (error) {
        socket.destroy(error as Error);
      }
      return true;
    };
    const socket: Socket = connect(
      {
        port,
        host: "127.0.0.1",
        noDelay: true,
        onread: { buffer: Buffer.alloc(READ_BYTES), callback },
      },
      () => {
        beganMs = performance.now();
        socket.write(request);
      },
    )
      .once("error", reject)
      .once("close", () => reject(new Error("closed before the answer was whole")));
  });
}

async function run(load: LatencyRequest): Promise<LatencyOutcome> {
  const tookMs: number[] = [];
  const untilMs = performance.now() + load.ms;
  const bytes = await Promise.all(
    Array.from({ length: load.connections }, () => repeat(load, untilMs, tookMs)),
  );
  return { tookMs, bytes: bytes[0] ?? 0 };
}

parentPort?.on("message", (load: LatencyRequest) => {
  run(load).then(
    (outcome) => parentPort?.postMessage(outcome),
    (error: unknown) =>
      parentPort?.postMessage({
        tookMs: [],
        bytes: 0,
        error: String(error),
      } satisfies LatencyOutcome),
  );
});
