/**
 * `bin/node bench/tokens.ts [SECONDS]`: mints per second at 1, 16 and 64 clients through the whole daemon (token, policy, two audit
 * records, intent and lease on disk before the answer), warm, beside a bare Node server that only forwards the mint and signs a JWT with
 * the same caching, and beside the same server when it also waits for a flush before the mint and one before the answer, which is the
 * least that the daemon's promises take. All against the same simulated code host in a process of its own, rounds alternating. Then the
 * same with 5 ms added to every flush of the daemon. Prints one line of JSON per row; ends 1 when the daemon makes less than half of the
 * bare server at 16.
 */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Worker } from "node:worker_threads";
import type { CodeHostReady } from "../src/demo/code-host/process.ts";
import type { MintLoad, MintOutcome } from "./mint-client.ts";

const BAR = 0.5;
const CLIENTS = [1, 16, 64];
const ROUNDS = 5;
/** Before the rows they work for so long: a daemon runs for months, and until some 80,000 mints V8 still compiles its code. */
const WARM_MS = { daemon: 40_000, bare: 8_000 };
const WARM_CLIENTS = 16;
const FLUSH_MS = 5;
/** What an OpenBao server with the Go plugin did on two cores: facts/tokens.md of the design, at 1, 16 and 64 clients. */
const FORMER: Readonly<Record<number, number>> = { 1: 278, 16: 884, 64: 854 };
const seconds = Number(process.argv[2] ?? 10);
const root = join(import.meta.dirname, "..");

function first<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => child.once("message", (message) => resolve(message as T)).once("exit", (code) => reject(new Error(`ended with ${code}`))));
}

interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

const hostProcess = fork(join(root, "src/demo/code-host/process.ts"), ["{}"], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
const host = await first<CodeHostReady>(hostProcess);
const body = JSON.stringify({ installation_id: host.installationId, permissions: { contents: "read" } });

async function startForwarder(options: { readonly flushed?: string } = {}): Promise<Target> {
  const child = fork(join(root, "bench/mint-forwarder.ts"), [JSON.stringify({ codeHost: host.url, appId: host.appId, privateKeyPem: host.privateKeyPem, connections: 64, ...options })], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const { url } = await first<{ url: string }>(child);
  return { url: `${url}/v1/github/token`, headers: {}, stop: () => ended(child) };
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
  });
}

/** The real launcher, its state on the disk of the temporary folder; `flushMs` is added to every flush. */
async function startDaemon(flushMs: number): Promise<Target> {
  const state = mkdtempSync(join(tmpdir(), "steward-bench-"));
  const config = join(state, "steward.yaml");
  writeFileSync(config, `gateway: { listen: "127.0.0.1:0" }\nstate: { directory: ${join(state, "state")} }\nservices: { dedup: false }\n`);
  const child = spawn(join(root, "bin/steward"), ["-config", config], {
    env: { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", ...(flushMs === 0 ? {} : { NODE_OPTIONS: `--import ${join(root, "bench/slow-flush.ts")}`, SLOW_FLUSH_MS: String(flushMs) }) }, stdio: ["ignore", "pipe", "pipe"],
  });
  const said: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => said.push(line));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", (line) => resolve(line.replace(/^.* on /, "")));
    child.once("exit", () => reject(new Error(said.join("\n"))));
  });
  const token = said.map((line) => /root token[^:]*: (\S+)/.exec(line)?.[1]).find((found) => found !== undefined) ?? "";
  const headers = { "x-vault-token": token };
  const configured = await fetch(`${url}/v1/github/config`, { method: "POST", headers, body: JSON.stringify({ app_id: host.appId, prv_key: host.privateKeyPem, base_url: host.url }) });
  if (!configured.ok) throw new Error(`config: ${configured.status} ${await configured.text()}`);
  return {
    url: `${url}/v1/github/token`, headers,
    async stop() {
      await ended(child);
      rmSync(state, { recursive: true, force: true });
    },
  };
}

const client = new Worker(new URL("mint-client.ts", import.meta.url));

function run(target: Target, clients: number, ms: number): Promise<MintOutcome> {
  return new Promise((resolve, reject) => {
    client.once("message", (outcome: MintOutcome) => (outcome.error === undefined ? resolve(outcome) : reject(new Error(outcome.error))));
    client.postMessage({ url: target.url, headers: target.headers, body, clients, ms } satisfies MintLoad);
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

const rate = ({ calls, ms }: MintOutcome): number => (calls / ms) * 1000;

interface Targets {
  readonly daemon: Target;
  readonly bare: Target;
  /** Only where the daemon's flushes take what the disk takes. */
  readonly flushed?: Target;
}

/** All in turns, so that the machine's ups and downs hit each. Gives the median ratio. */
async function compare(name: string, { daemon, bare, flushed }: Targets, clients: number): Promise<number> {
  const ms = (seconds * 1000) / ROUNDS / 2;
  for (const target of [daemon, bare, flushed]) if (target !== undefined) await run(target, clients, 1_000);
  const rounds: { daemon: MintOutcome; bare: MintOutcome; flushed: MintOutcome | undefined }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push({ daemon: await run(daemon, clients, ms), bare: await run(bare, clients, ms), flushed: flushed && await run(flushed, clients, ms) });
  }
  const ratio = median(rounds.map((round) => rate(round.daemon) / rate(round.bare)));
  const mints = median(rounds.map((round) => rate(round.daemon)));
  const least = rounds.flatMap((round) => (round.flushed === undefined ? [] : [{ ...round, flushed: round.flushed }]));
  process.stdout.write(`${JSON.stringify({
    bench: name, clients, mints_per_second: Math.round(mints), p50_ms: fixed(median(rounds.map((round) => round.daemon.p50Ms)), 2), p99_ms: fixed(median(rounds.map((round) => round.daemon.p99Ms)), 2),
    bare_per_second: Math.round(median(rounds.map((round) => rate(round.bare)))), bare_p99_ms: fixed(median(rounds.map((round) => round.bare.p99Ms)), 2), ratio: fixed(ratio, 3),
    ...(least.length === 0 ? {} : {
      flushed_per_second: Math.round(median(least.map((round) => rate(round.flushed)))), flushed_ratio: fixed(median(least.map((round) => rate(round.flushed) / rate(round.bare))), 3),
      ratio_to_flushed: fixed(median(least.map((round) => rate(round.daemon) / rate(round.flushed))), 3),
    }),
    former_per_second: FORMER[clients], times_former: fixed(mints / (FORMER[clients] ?? 1), 2),
  })}\n`);
  return ratio;
}

function fixed(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

const files = mkdtempSync(join(tmpdir(), "steward-bench-"));
const bare = await startForwarder();
const flushed = await startForwarder({ flushed: join(files, "records") });
for (const target of [bare, flushed]) await run(target, WARM_CLIENTS, WARM_MS.bare);
let atSixteen = 0;
for (const flushMs of [0, FLUSH_MS]) {
  const daemon = await startDaemon(flushMs);
  await run(daemon, WARM_CLIENTS, WARM_MS.daemon);
  const targets: Targets = { daemon, bare, ...(flushMs === 0 ? { flushed } : {}) };
  for (const clients of CLIENTS) {
    const ratio = await compare(flushMs === 0 ? "mint" : `mint, every flush ${flushMs} ms longer`, targets, clients);
    if (flushMs === 0 && clients === 16) atSixteen = ratio;
  }
  await daemon.stop();
}
await client.terminate();
await bare.stop();
await flushed.stop();
await ended(hostProcess);
rmSync(files, { recursive: true, force: true });
if (atSixteen < BAR) process.stderr.write(`the daemon makes ${atSixteen.toFixed(3)} of a bare server's mints per second at 16 clients; the bar is ${BAR}\n`);
process.exit(atSixteen < BAR ? 1 : 0);
