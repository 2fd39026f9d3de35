/**
 * A control plane with its node agents in a worker thread or a process of its own, for benches and
 * trials by hand: `new Worker(process.ts, { workerData })` gets messages; `bin/node
 * src/demo/tailscale/process.ts '{"devices":1000}'` prints one line of JSON, the same as the
 * message. A thread ends with its parent or when told so, a process on SIGTERM.
 */
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../../kernel/base/clock.ts";
import { systemIds } from "../../kernel/base/ids.ts";
import { createLog } from "../../kernel/base/log.ts";
import { startNodeAgents } from "../network/agents.ts";
import { startTailscale } from "./tailscale.ts";
import type { Tailscale, TailscaleOptions } from "./types.ts";

/** Sent once, when everything listens. */
export interface TailscaleReady {
  readonly kind: "ready";
  readonly url: string;
  readonly agentsUrl: string;
  readonly tailnet: string;
  readonly credentials: Tailscale["credentials"];
}

/** What the parent may say. */
export interface TailscaleStop {
  readonly kind: "stop";
}

/**
 * Options of a control plane in a thread; a process takes the same as JSON in its first argument.
 */
export type TailscaleThreadOptions = Pick<
  TailscaleOptions,
  | "seed"
  | "devices"
  | "tailnet"
  | "talkers"
  | "clients"
  | "apiKeys"
  | "federated"
  | "tokenLifetimeMs"
  | "absent"
  | "streams"
  | "limit"
  | "embedNodes"
  | "gzip"
  | "port"
>;

function readOptions(): TailscaleThreadOptions {
  if (!isMainThread) return (workerData ?? {}) as TailscaleThreadOptions;
  const [argument] = process.argv.slice(2);
  return argument === undefined ? {} : (JSON.parse(argument) as TailscaleThreadOptions);
}

const log = createLog({
  level: "warn",
  format: "text",
  write: (line) => void process.stderr.write(line),
  now: () => systemClock.now(),
});
const deps = { clock: systemClock, ids: systemIds, log };
const plane = await startTailscale({ ...deps, ...readOptions() });
const agents = await startNodeAgents({ ...deps, network: plane.estate.network });
const ready: TailscaleReady = {
  kind: "ready",
  url: plane.url,
  agentsUrl: agents.url,
  tailnet: plane.tailnet,
  credentials: plane.credentials,
};

async function stop(): Promise<void> {
  await Promise.all([plane.stop(), agents.stop()]);
  parentPort?.close();
}

if (parentPort === null) {
  process.once("SIGTERM", () => void stop());
  process.stdout.write(`${JSON.stringify(ready)}\n`);
} else {
  parentPort.on("message", () => void stop());
  parentPort.postMessage(ready);
}
