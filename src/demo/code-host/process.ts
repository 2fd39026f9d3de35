/**
 * The demo's code host in a worker thread or a process of its own, without quotas, for benches:
 * `new Worker(process.ts, { workerData })` and `fork(process.ts)` get messages; `bin/node
 * src/demo/code-host/process.ts KEYFILE` writes the app's private key to KEYFILE (0600) and prints
 * one line, the address. It ends with its parent, or on SIGTERM.
 */
import { writeFileSync } from "node:fs";
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../../kernel/base/clock.ts";
import { systemIds } from "../../kernel/base/ids.ts";
import { createLog } from "../../kernel/base/log.ts";
import { demoCodeHost } from "./demo.ts";
import type { Operation } from "./routes.ts";
import type { CodeHostOptions, TokenCounts } from "./types.ts";

/** Sent once, when the host listens. */
export interface CodeHostReady {
  readonly kind: "ready";
  readonly url: string;
  readonly appId: number;
  readonly organisation: string;
  readonly installationId: number;
  readonly privateKeyPem: string;
}

/** What the parent may ask. */
export type CodeHostQuestion = { readonly kind: "stats" } | { readonly kind: "stop" };

/** The answer to `stats`. */
export interface CodeHostStats {
  readonly kind: "stats";
  readonly counts: TokenCounts;
  readonly requests: Readonly<Record<Operation, number>>;
}

/** Options of a host in a thread; a forked process takes the same as JSON in its first argument. */
export type CodeHostThreadOptions = Omit<CodeHostOptions, "apps">;

function readOptions(): CodeHostThreadOptions {
  if (!isMainThread) return (workerData ?? {}) as CodeHostThreadOptions;
  const [argument] = process.argv.slice(2);
  return argument?.startsWith("{") === true ? (JSON.parse(argument) as CodeHostThreadOptions) : {};
}

const log = createLog({
  level: "warn",
  format: "text",
  write: (line) => void process.stderr.write(line),
  now: () => systemClock.now(),
});
const { codeHost, ...identity } = await demoCodeHost(
  { clock: systemClock, ids: systemIds, log },
  { hourlyLimit: "off", ...readOptions() },
);
await codeHost.start();

async function stop(): Promise<void> {
  await codeHost.stop();
  parentPort?.close();
  if (process.connected) process.disconnect();
}

function send(message: CodeHostReady | CodeHostStats): void {
  if (parentPort === null) process.send?.(message);
  else parentPort.postMessage(message);
}

function hear(question: CodeHostQuestion): void {
  if (question.kind === "stats")
    send({ kind: "stats", counts: codeHost.counts(), requests: codeHost.requests() });
  else void stop();
}

if (parentPort !== null) parentPort.on("message", hear);
else {
  const [keyFile] = process.argv.slice(2);
  if (process.send !== undefined)
    process
      .on("message", (message) => hear(message as CodeHostQuestion))
      .once("disconnect", () => void stop());
  else if (keyFile !== undefined) writeFileSync(keyFile, identity.privateKeyPem, { mode: 0o600 });
  process.once("SIGTERM", () => void stop());
  process.stdout.write(`${codeHost.url}\n`);
}
send({ kind: "ready", url: codeHost.url, ...identity });
