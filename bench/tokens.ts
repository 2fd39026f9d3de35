/**
 * Mints per second, and the server's CPU time for each, through the whole daemon: token, policy,
 * two audit records, intent and lease, all on disk before the answer.
 *
 *     bin/node bench/tokens.ts [--directory DIR] [--clients 1,16,64] [--seconds 10] [--warm 80000]
 *                              [--flush-ms N] [--against CHECKOUT]…
 *
 * Beside the daemon, in rounds that alternate, run
 * - `bare`: a Node server that forwards the mint and signs a JWT with the same caching, without a
 *   disk;
 * - `flushed`: that server when it also waits for a flush before the mint and for one before the
 *   answer, one flush for all that wait: the least that "on disk before the effect, on disk before
 *   the answer" takes;
 * - the daemons of other checkouts (`--against`), e.g. of the commit before a change, named after
 *   their folders.
 *
 * All send to one simulated code host in a process of its own. The daemons and `flushed` write
 * below `--directory`, the folder for temporary files unless given; /dev/shm, a tmpfs, leaves the
 * disk out and shows the CPU time alone. `--seconds` is what a row takes for each server. Before
 * the rows each makes `--warm` mints: V8 compiles the daemon's code until some 80,000. On a busy
 * machine only CPU times and ratios mean anything.
 *
 * Prints JSON, one line for the machine and one for each number of clients, all in the median of
 * the rounds: mints a second, latencies, CPU time of the whole process in microseconds a mint, and
 * ratios of the daemon's rate to the others'. Exits 1 when a bar is missed at 16 clients: on a disk
 * half of the mints of `flushed`, on a tmpfs 220 µs of CPU time a mint. With `--flush-ms` every
 * flush of the daemons takes that much longer, `flushed` is left out and no bar applies.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { open } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import type { MintLoad, MintOutcome } from "./mint-client.ts";
import { startCodeHost, startDaemon, startForwarder, type MintTarget } from "./mint-targets.ts";

const FLUSHED_BAR = 0.5;
const CPU_BAR_US = 220;
const BAR_CLIENTS = 16;
const ROUNDS = 11;
const WARM_CLIENTS = 16;
const WARM_ROUND_MS = 2_000;
/** `f_type` of a tmpfs (statfs(2)). */
const TMPFS = 0x01021994;

const { values: given } = parseArgs({
  options: {
    directory: { type: "string", default: tmpdir() },
    clients: { type: "string", default: "1,16,64" },
    seconds: { type: "string", default: "10" },
    warm: { type: "string", default: "80000" },
    "flush-ms": { type: "string", default: "0" },
    against: { type: "string", multiple: true, default: [] },
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

function run(target: MintTarget, clients: number, ms: number): Promise<Round> {
  return new Promise((done, failed) => {
    const before = target.cpuUs();
    client.once("message", (outcome: MintOutcome) => {
      if (outcome.error === undefined) done({ ...outcome, cpuUs: target.cpuUs() - before });
      else failed(new Error(outcome.error));
    });
    client.postMessage({
      url: target.url,
      headers: target.headers,
      body,
      clients,
      ms,
    } satisfies MintLoad);
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

function fixed(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

const rate = ({ calls, ms }: MintOutcome): number => (calls / ms) * 1000;

type Targets = ReadonlyMap<string, MintTarget>;

interface Row {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuUs: number;
}

/** All in turns, so that the machine's ups and downs hit each. */
async function compare(targets: Targets, clients: number): Promise<Map<string, Round[]>> {
  const rounds = new Map<string, Round[]>(Array.from(targets.keys(), (name) => [name, []]));
  for (const target of targets.values()) await run(target, clients, 1_000);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, target] of targets)
      rounds.get(name)?.push(await run(target, clients, roundMs));
  }
  return rounds;
}

function rowOf(rounds: readonly Round[]): Row {
  return {
    perSecond: Math.round(median(rounds.map(rate))),
    p50Ms: fixed(median(rounds.map(({ p50Ms }) => p50Ms)), 2),
    p99Ms: fixed(median(rounds.map(({ p99Ms }) => p99Ms)), 2),
    cpuUs: Math.round(median(rounds.map(({ cpuUs, calls }) => cpuUs / calls))),
  };
}

/** The median of the daemon's rate over another's in the same round. */
function ratioTo(rounds: ReadonlyMap<string, readonly Round[]>, name: string): number | undefined {
  const others = rounds.get(name);
  const ratios = (rounds.get("daemon") ?? []).map(
    (round, at) => rate(round) / rate(others?.[at] ?? round),
  );
  return others && fixed(median(ratios), 3);
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

/** Device and type of the file system that a directory lies on. */
function fileSystemOf(path: string): string {
  return (
    execFileSync("df", ["--output=source,fstype", path], { encoding: "utf8" })
      .trim()
      .split("\n")
      .at(-1) ?? ""
  );
}

function print(row: object): void {
  process.stdout.write(`${JSON.stringify(row)}\n`);
}

const isTmpfs = statfsSync(directory).type === TMPFS;
const [cpu] = cpus();
const flushTimeMs = fixed(await flushTime(), 3);
print({
  machine: cpu?.model,
  cores: cpus().length,
  directory: fileSystemOf(directory),
  flush_ms: flushTimeMs,
});

const host = await startCodeHost(root);
const { installationId } = host.ready;
const body = JSON.stringify({ installation_id: installationId, permissions: { contents: "read" } });
const start = (checkout: string): Promise<MintTarget> =>
  startDaemon(checkout, host.ready, { directory, flushMs });
const targets = new Map([["daemon", await start(root)]]);
for (const checkout of given.against)
  targets.set(basename(checkout), await start(resolve(checkout)));
targets.set("bare", await startForwarder(host.ready));
if (flushMs === 0) targets.set("flushed", await startForwarder(host.ready, directory));
for (const target of targets.values()) {
  let mints = 0;
  while (mints < Number(given.warm))
    mints += (await run(target, WARM_CLIENTS, WARM_ROUND_MS)).calls;
}

const missed: string[] = [];
for (const clients of given.clients.split(",").map(Number)) {
  const rounds = await compare(targets, clients);
  const rows = new Map(Array.from(rounds, ([name, of]) => [name, rowOf(of)]));
  const [, ...others] = rows.keys();
  const ratios = Object.fromEntries(others.map((name) => [name, ratioTo(rounds, name)]));
  const added = flushMs === 0 ? {} : { flush_ms_added: flushMs };
  print({ clients, ...added, ...Object.fromEntries(rows), ratios });
  if (clients !== BAR_CLIENTS || flushMs !== 0) continue;
  const cpuUs = rows.get("daemon")?.cpuUs ?? 0;
  const ratio = ratios["flushed"] ?? 0;
  if (isTmpfs && cpuUs > CPU_BAR_US)
    missed.push(`a mint takes ${cpuUs} µs of CPU time; the bar is ${CPU_BAR_US}`);
  if (!isTmpfs && ratio < FLUSHED_BAR)
    missed.push(`${ratio} of the mints of \`flushed\`; the bar is ${FLUSHED_BAR}`);
}
await client.terminate();
for (const target of targets.values()) await target.stop();
await host.stop();
for (const line of missed) process.stderr.write(`${line}\n`);
process.exit(missed.length > 0 ? 1 : 0);
