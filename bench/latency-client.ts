/** The client of bench/status.ts: so many connections, each asking again when its answer is whole, in a thread of its own. */
import { Agent, request as httpRequest } from "node:http";
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

function ask({ port, path, headers = {} }: LatencyRequest, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    let bytes = 0;
    httpRequest({ port, host: "127.0.0.1", path, headers, agent }, (response) => {
      response.on("data", (chunk: Buffer) => void (bytes += chunk.length)).once("end", () => (response.statusCode === 200 ? resolve(bytes) : reject(new Error(`status ${response.statusCode}`))));
    }).once("error", reject).end();
  });
}

async function run(load: LatencyRequest): Promise<LatencyOutcome> {
  const agent = new Agent({ keepAlive: true, maxSockets: load.connections });
  const until = performance.now() + load.ms;
  const tookMs: number[] = [];
  let bytes = 0;
  await Promise.all(Array.from({ length: load.connections }, async () => {
    while (performance.now() < until) {
      const beganMs = performance.now();
      bytes = await ask(load, agent);
      tookMs.push(performance.now() - beganMs);
    }
  }));
  agent.destroy();
  return { tookMs, bytes };
}

parentPort?.on("message", (load: LatencyRequest) => {
  run(load).then((outcome) => parentPort?.postMessage(outcome), (error: unknown) => parentPort?.postMessage({ tookMs: [], bytes: 0, error: String(error) } satisfies LatencyOutcome));
});
