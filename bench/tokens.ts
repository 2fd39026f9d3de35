/**
 * `bin/node bench/tokens.ts [--directory DIR] [--seconds N] [--warm N] [--clients N,N] [--flush-ms N] [--against CHECKOUT]`: mints per second and
 * CPU time of the server for each mint, at 1, 16 and 64 clients, through the whole daemon: token, policy, two audit records, intent and
 * lease, all on disk before the answer. Beside it, in rounds that alternate:
 *
 * - `bare`: a Node server that forwards the mint and signs a JWT with the same caching, without a disk;
 * - `flushed`: the same server that also waits for a flush before the mint and for one before the answer, one flush for all that wait.
 *   That is the least that "on disk before the effect, on disk before the answer" takes;
 * - with `--against`, the daemon of another checkout, e.g. of the commit before a change.
 *
 * All of them send to one simulated code host in a process of its own. `--directory` is where the daemon and the forwarder with flushes
 * write, the folder for temporary files unless given; /dev/shm, a tmpfs, leaves the disk out and shows the CPU time alone. `--seconds`
 * is what one row takes for each server. The daemon is warm after some 80,000 mints: V8 compiles until then.
 *
 * Prints JSON, one line for the machine and one for each number of clients, and ends 1 when a bar is missed at 16 clients: on a disk
 * half of the mints of `flushed`, on a tmpfs 220 µs of the server's CPU time for a mint. With `--flush-ms` every flush of the daemon
 * takes that much longer and no bar applies.
 */
import { mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { open } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import type { MintLoad, MintOutcome } from "./mint-client.ts";
import { startCodeHost, startDaemon, startForwarder, type MintTarget } from "./mint-targets.ts";

const FLUSHED_BAR = 0.5;
const CPU_BAR_US = 220;
const BAR_CLIENTS = 16;
const ROUNDS = 5;
const WARM_CLIENTS = 16;
const WARM_BARE_MS = 8_000;
/** `f_type` of a tmpfs (statfs(2)). */
const TMPFS = 0x01021994;

const { values: given } = parseArgs({
  options: {
    directory: { type: "string", default: tmpdir() }, seconds: { type: "string", default: "10" }, warm: { type: "string", default: "40" },
    clients: { type: "string", default: "1,16,64" }, "flush-ms": { type: "string", default: "0" }, against: { type: "string" },
  },
});
const root = join(import.meta.dirname, "..");
const directory = resolve(given.directory);
const roundMs = (Number(given.seconds) * 1000) / ROUNDS;
const flushMs = Number(given["flush-ms"]);

const client = new Worker(new URL("mint-client.ts", import.meta.url));

interface Round extends MintOutcome {
  readonly cpuUs: number;
}

function run({ url, headers, cpuUs }: MintTarget, clients: number, ms: number): Promise<Round> {
  return new Promise((done, failed) => {
    const before = cpuUs();
    client.once("message", (outcome: MintOutcome) => {
      if (outcome.error === undefined) done({ ...outcome, cpuUs: cpuUs() - before });
      else failed(new Error(outcome.error));
    });
    client.postMessage({ url, headers, body, clients, ms } satisfies MintLoad);
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

function fixed(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

const rate = ({ calls, ms }: MintOutcome): number => (calls / ms) * 1000;

interface Row {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuUs: number;
}

/** All in turns, so that the machine's ups and downs hit each. */
async function compare(targets: ReadonlyMap<string, MintTarget>, clients: number): Promise<Map<string, Round[]>> {
  const rounds = new Map<string, Round[]>(Array.from(targets.keys(), (name) => [name, []]));
  for (const target of targets.values()) await run(target, clients, 1_000);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, target] of targets) rounds.get(name)?.push(await run(target, clients, roundMs));
  }
  return rounds;
}

function rowOf(rounds: readonly Round[]): Row {
  const sum = (of: (round: Round) => number): number => rounds.reduce((total, round) => total + of(round), 0);
  return {
    perSecond: Math.round(median(rounds.map(rate))), p50Ms: fixed(median(rounds.map(({ p50Ms }) => p50Ms)), 2),
    p99Ms: fixed(median(rounds.map(({ p99Ms }) => p99Ms)), 2), cpuUs: Math.round(sum(({ cpuUs }) => cpuUs) / sum(({ calls }) => calls)),
  };
}

/** The median of the daemon's rate over another's in the same round. */
function ratioTo(rounds: ReadonlyMap<string, readonly Round[]>, name: string): number | undefined {
  const others = rounds.get(name);
  return others && fixed(median((rounds.get("daemon") ?? []).map((round, at) => rate(round) / rate(others[at] ?? round))), 3);
}

/** Milliseconds of one write of 4 KiB with its flush, in the median. */
async function flushTime(): Promise<number> {
  const folder = mkdtempSync(join(directory, "steward-bench-"));
  const file = await open(join(folder, "file"), "w");
  const block = Buffer.alloc(4096, "x");
  const times: number[] = [];
  for (let flushes = 0; flushes < 200; flushes += 1) {
    const began = performance.now();
    await file.write(block);
    await file.datasync();
    times.push(performance.now() - began);
  }
  await file.close();
  rmSync(folder, { recursive: true, force: true });
  return median(times);
}

/** Device and file system of the mount that the directory lies on (proc_pid_mountinfo(5)). */
function mountOf(path: string): string {
  const mounts = readFileSync("/proc/self/mountinfo", "utf8").trim().split("\n").map((line) => line.split(" "));
  const holding = mounts.filter(([, , , , at = ""]) => path === at || path.startsWith(at.endsWith("/") ? at : `${at}/`));
  const [fields = []] = holding.toSorted((left, right) => (right[4] ?? "").length - (left[4] ?? "").length);
  const dash = fields.indexOf("-");
  return `${fields[dash + 1]} on ${fields[dash + 2]}`;
}

function print(row: object): void {
  process.stdout.write(`${JSON.stringify(row)}\n`);
}

const isTmpfs = statfsSync(directory).type === TMPFS;
const [cpu] = cpus();
print({ machine: cpu?.model, cores: cpus().length, directory: mountOf(directory), flush_ms: fixed(await flushTime(), 3) });

const host = await startCodeHost(root);
const body = JSON.stringify({ installation_id: host.ready.installationId, permissions: { contents: "read" } });
const targets = new Map<string, MintTarget>([["daemon", await startDaemon(root, host.ready, { directory, flushMs })]]);
if (given.against !== undefined) targets.set("against", await startDaemon(resolve(given.against), host.ready, { directory, flushMs }));
targets.set("bare", await startForwarder(host.ready));
if (flushMs === 0) targets.set("flushed", await startForwarder(host.ready, directory));
for (const [name, target] of targets) await run(target, WARM_CLIENTS, name === "daemon" || name === "against" ? Number(given.warm) * 1000 : WARM_BARE_MS);

const missed: string[] = [];
for (const clients of given.clients.split(",").map(Number)) {
  const rounds = await compare(targets, clients);
  const rows = new Map(Array.from(rounds, ([name, of]) => [name, rowOf(of)]));
  const ratios = { to_bare: ratioTo(rounds, "bare"), to_flushed: ratioTo(rounds, "flushed"), to_against: ratioTo(rounds, "against") };
  print({ clients, ...(flushMs === 0 ? {} : { flush_ms_added: flushMs }), ...Object.fromEntries(rows), ratios });
  if (clients !== BAR_CLIENTS || flushMs !== 0) continue;
  const cpuUs = rows.get("daemon")?.cpuUs ?? 0;
  if (isTmpfs && cpuUs > CPU_BAR_US) missed.push(`a mint takes ${cpuUs} µs of the daemon's CPU time at ${clients} clients; the bar is ${CPU_BAR_US}`);
  if (!isTmpfs && (ratios.to_flushed ?? 0) < FLUSHED_BAR) missed.push(`the daemon makes ${ratios.to_flushed} of the mints of a forwarder with two flushes at ${clients} clients; the bar is ${FLUSHED_BAR}`);
}
await client.terminate();
for (const target of targets.values()) await target.stop();
await host.stop();
for (const line of missed) process.stderr.write(`${line}\n`);
process.exit(missed.length > 0 ? 1 : 0);
