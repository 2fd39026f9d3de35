/** One run of the golden daemon: started, moved on, read as its users read it, and stopped. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { get } from "node:http";
import { get as getTls } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { startReceiver, type Receiver } from "../../support/otlp/receiver.ts";
import { cleanEnvironment, listenAddress, temporaryFolder, watchStart, type Daemon } from "../daemon.ts";
import type { GoldenArguments, GoldenOrder, GoldenReply } from "./daemon.ts";
import type { SceneName } from "./scenes.ts";

/** Everything that the daemon told. */
export interface GoldenRun {
  /**
   * What stands for what differs between runs, e.g. the address of a port that the system chose.
   */
  readonly names: Readonly<Record<string, string>>;
  readonly exposition: string;
  readonly status: unknown;
  readonly points: Receiver["batches"];
  readonly logs: ReturnType<Receiver["logs"]>;
}

const MINUTE_MS = 60_000;
/**
 * Three runs of each collector, with a pull after the first and after the last: what is read just
 * before a pull is then among what the status shows.
 */
const FIRST_MS = 4 * MINUTE_MS;
const SECOND_MS = 7 * MINUTE_MS;
/** Requests of a push: metrics of the process, metrics of the networks, and log records. */
const REQUESTS = 3;
const TOKEN = "administrator-0123456789";

/** Runs it to its end. */
export async function runGolden(scene: SceneName): Promise<GoldenRun> {
  const receiver = await startReceiver({ protocol: "http" });
  const folder = temporaryFolder();
  const given: GoldenArguments = { scene, folder, endpoint: receiver.endpoint };
  const options = { env: cleanEnvironment, silent: true, execArgv: ["--disable-warning=ExperimentalWarning"], cwd: folder };
  const child = fork(join(import.meta.dirname, "daemon.ts"), [JSON.stringify(given)], options);
  const addresses = reply(child, "addresses");
  // One that does not start says why in its lines.
  addresses.catch(() => undefined);
  const daemon = await watchStart(child);
  await order(child, { advanceMs: FIRST_MS });
  const address = listenAddress(daemon, "metrics");
  const metrics = `${scene === "feeding" ? "https" : "http"}://${address}`;
  await pulled(child, metrics);
  await order(child, { advanceMs: SECOND_MS });
  await pulled(child, metrics);
  if (scene === "feeding") await textOf(`${daemon.url}/api/status.json`, 401, {});
  const status = JSON.parse(await textOf(`${daemon.url}/api/status.json`)) as unknown;
  // A busy machine counts the connection of the request before until its end is seen.
  await order(child, { advanceMs: 0 });
  const exposition = await textOf(`${metrics}/metrics`);
  // So are the books of this pull, which the push of the stop tells.
  await order(child, { advanceMs: 0 });
  answerTogether(receiver);
  await ended(daemon);
  await receiver.close();
  const names = { ...(await addresses).addresses, [daemon.url]: "gateway", [metrics]: "metrics", [folder]: "folder" };
  return { names, exposition, status, points: receiver.batches, logs: receiver.logs() };
}

/**
 * The books of the pull reach the daemon's thread after its answer: it is left to rest before the
 * clock moves.
 */
async function pulled(child: ChildProcess, metrics: string): Promise<void> {
  await textOf(`${metrics}/metrics`);
  await order(child, { advanceMs: 0 });
}

/**
 * Answers the first push of the stop once all of its requests are there: what one tells of the
 * others does not depend on which is faster.
 */
function answerTogether(receiver: Receiver): void {
  const { promise: until, resolve } = Promise.withResolvers<void>();
  let requests = 0;
  const arrived = (): void => {
    requests += 1;
    if (requests === REQUESTS) resolve();
  };
  receiver.answer = { kind: "hold", until, arrived };
}

async function ended(daemon: Daemon): Promise<void> {
  const { code } = await daemon.stop();
  if (code !== 0) throw new Error(`the daemon ended with ${code}:\n${daemon.stderr.join("\n")}`);
}

async function order(child: ChildProcess, wanted: GoldenOrder): Promise<void> {
  const done = reply(child, "advancedMs");
  child.send(wanted);
  await done;
}

async function reply<K extends string>(child: ChildProcess, key: K): Promise<Extract<GoldenReply, Record<K, unknown>>> {
  const ended = new AbortController();
  child.once("exit", (code) => ended.abort(new Error(`the daemon ended with ${code}`)));
  for (;;) {
    const [message] = await once(child, "message", { signal: ended.signal }) as [GoldenReply];
    if (key in message) return message as Extract<GoldenReply, Record<K, unknown>>;
  }
}

/** A connection of its own for each request, so that no other counts as open. */
async function textOf(url: string, expected = 200, headers: Readonly<Record<string, string>> = { authorization: `Bearer ${TOKEN}` }): Promise<string> {
  const options = { headers, agent: false as const };
  const request = url.startsWith("https:") ? getTls(url, { ...options, rejectUnauthorized: false }) : get(url, options);
  const [answer] = await once(request, "response") as [Parameters<typeof text>[0] & { readonly statusCode?: number }];
  const body = await text(answer);
  if (answer.statusCode !== expected) throw new Error(`${url}: ${answer.statusCode} ${body}`);
  return body;
}
