/**
 * Mints per second through a host of plugins, for Steward's plugin and for the least that a plugin
 * in Go can be, which signs a JWT for each request as such plugins do (`test/plugin-host/minimal`).
 *
 *     npm run bench:plugin [-- --clients 16 --seconds 20 --warm 20000 --minutes 60]
 *
 * The host is a Go program with go-plugin and Vault's SDK; it makes an existence check and a request
 * for each mint, as a server does for a POST, and keeps no leases. Both plugins send to one simulated
 * code host in a process of its own. After `--warm` mints of each, since V8 compiles meanwhile, rounds
 * of both alternate for `--seconds` each in all; the figures are medians of the rounds. Resident memory is read
 * from /proc before the first mint and after the last one. On a busy machine only ratios mean
 * anything. `--minutes` then loads Steward's plugin alone for that long and prints its memory.
 *
 * Prints JSON, one line each for the machine, both plugins, the ratio, and each tenth of the long
 * load. Exits 1 when a bar is missed: 1.8 times the mints of the other plugin, and resident memory of
 * at most 1.5 times that before the first mint.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { CodeHostReady } from "../src/demo/code-host/process.ts";
import {
  buildGo,
  startPluginHost,
  withoutPluginHost,
  type PluginHost,
} from "../test/support/plugin-host.ts";

const BAR = 1.8;
const BAR_GROWTH = 1.5;
const LONG_PARTS = 10;
const ROUNDS = 9;
const MOUNT = "github/";

const { values: given } = parseArgs({
  options: {
    clients: { type: "string", default: "16" },
    seconds: { type: "string", default: "20" },
    warm: { type: "string", default: "20000" },
    minutes: { type: "string", default: "0" },
  },
});
const root = join(import.meta.dirname, "..");
const clients = Number(given.clients);

/** Of `load` in `test/plugin-host/calls.go`. */
interface Round {
  readonly done: number;
  readonly failed: number;
  readonly first_failure: string | null;
  readonly seconds: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
}

interface Target {
  readonly name: string;
  readonly host: PluginHost;
  readonly pid: number;
  readonly idleMb: number;
  readonly rounds: Round[];
}

if (withoutPluginHost !== undefined) throw new Error(`no host of plugins: ${withoutPluginHost}`);
const codeHost = fork(join(root, "src/demo/code-host/process.ts"), ["{}"], {
  // It keeps each token for an hour.
  execArgv: ["--max-old-space-size=12288"],
  stdio: ["ignore", "ignore", "inherit", "ipc"],
});
const [ready] = (await once(codeHost, "message")) as [CodeHostReady];
const version = (
  JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly version: string }
).version;
const targets = [
  await start("steward", join(root, `dist-plugin/steward-plugin-${version}-linux-${process.arch}`)),
  await start("go", buildGo("minimal-plugin")),
];
try {
  print({ machine: cpus()[0]?.model, cores: cpus().length, clients, rounds: ROUNDS });
  for (const target of targets)
    for (let made = 0; made < Number(given.warm);) made += (await mint(target, 1)).done;
  for (let round = 0; round < ROUNDS; round++)
    for (const target of round % 2 === 0 ? targets : targets.toReversed())
      target.rounds.push(await mint(target, Number(given.seconds) / ROUNDS));
  const [ours, theirs] = targets.map(report) as [number, number];
  print({ ratio: Number((ours / theirs).toFixed(2)), bar: BAR });
  const growth = await growthOf(targets[0]!, Number(given.minutes));
  process.exitCode = ours / theirs < BAR || growth > BAR_GROWTH ? 1 : 0;
} finally {
  for (const { host } of targets) await host[Symbol.asyncDispose]();
  codeHost.kill();
}

async function start(name: string, command: string): Promise<Target> {
  const host = await startPluginHost({ command });
  const { pid } = await host.order<{ readonly pid: number }>("mount", { mount: MOUNT });
  const data = { app_id: ready.appId, prv_key: ready.privateKeyPem, base_url: ready.url };
  const { error } = await host.request(MOUNT, "update", "config", { data });
  if (error !== undefined) throw new Error(`${name}: ${error.message}`);
  return { name, host, pid, idleMb: residentMb(pid), rounds: [] };
}

async function mint({ name, host }: Target, seconds: number): Promise<Round> {
  const round = await host.order<Round>("load", {
    mount: MOUNT,
    operation: "update",
    path: "token",
    data: { installation_id: ready.installationId },
    clients,
    seconds,
  });
  if (round.failed > 0)
    throw new Error(`${name}: ${round.failed} mints failed, ${round.first_failure}`);
  return round;
}

/** Prints a line; mints per second. */
function report({ name, pid, idleMb, rounds }: Target): number {
  const rate = median(rounds.map(({ done, seconds }) => done / seconds));
  const loadedMb = residentMb(pid);
  print({
    plugin: name,
    mints_per_second: Math.round(rate),
    p50_ms: median(rounds.map((round) => round.p50_ms)),
    p99_ms: median(rounds.map((round) => round.p99_ms)),
    idle_mb: idleMb,
    after_load_mb: loadedMb,
    growth: Number((loadedMb / idleMb).toFixed(2)),
  });
  return rate;
}

/** Memory in relation to that before the first mint, after further load for that long. */
async function growthOf(target: Target, minutes: number): Promise<number> {
  const growth = (): number => residentMb(target.pid) / target.idleMb;
  const parts = minutes > 0 ? LONG_PARTS : 0;
  for (let part = 1; part <= parts; part++) {
    const { done, seconds } = await mint(target, (minutes * 60) / LONG_PARTS);
    print({
      minutes: (minutes / LONG_PARTS) * part,
      mints_per_second: Math.round(done / seconds),
      resident_mb: residentMb(target.pid),
      growth: Number(growth().toFixed(2)),
      bar: BAR_GROWTH,
    });
  }
  return growth();
}

function residentMb(pid: number): number {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  return Math.round((Number(/VmRSS:\s+(\d+)/.exec(text)?.[1]) * 1_024) / 1e6);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
