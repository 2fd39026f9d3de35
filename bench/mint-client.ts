/**
 * The client of bench/tokens.ts: mints as fast as answers come, in a thread of its own, and keeps
 * the time of each.
 */
import { Agent, request as httpRequest } from "node:http";
import { parentPort } from "node:worker_threads";

/** What to send, for how long. */
export interface MintLoad {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly ms: number;
  /** Requests under way at once, each on a kept connection of its own. */
  readonly clients: number;
}

/** What came of it. */
export interface MintOutcome {
  readonly calls: number;
  readonly ms: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly error?: string;
}

function mint(load: MintLoad, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      load.url,
      {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "content-length": Buffer.byteLength(load.body),
          ...load.headers,
        },
        agent,
      },
      (response) => {
        const parts: Buffer[] = [];
        response
          .on("data", (part: Buffer) => parts.push(part))
          .once("error", reject)
          .once("end", () => {
            if (response.statusCode === 200 || response.statusCode === 201) resolve();
            else
              reject(
                new Error(
                  `status ${response.statusCode}: ${Buffer.concat(parts).toString("utf8").slice(0, 300)}`,
                ),
              );
          });
      },
    );
    request.once("error", reject).end(load.body);
  });
}

async function run(load: MintLoad): Promise<MintOutcome> {
  const agent = new Agent({ keepAlive: true, maxSockets: load.clients });
  const started = performance.now();
  const times: number[] = [];
  await Promise.all(
    Array.from({ length: load.clients }, async () => {
      while (performance.now() < started + load.ms) {
        const sent = performance.now();
        await mint(load, agent);
        times.push(performance.now() - sent);
      }
    }),
  );
  agent.destroy();
  times.sort((left, right) => left - right);
  const at = (share: number): number =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { calls: times.length, ms: performance.now() - started, p50Ms: at(0.5), p99Ms: at(0.99) };
}

parentPort?.on("message", (load: MintLoad) => {
  run(load).then(
    (outcome) => parentPort?.postMessage(outcome),
    (error: unknown) =>
      parentPort?.postMessage({
        calls: 0,
        ms: 1,
        p50Ms: 0,
        p99Ms: 0,
        error: String(error),
      } satisfies MintOutcome),
  );
});
