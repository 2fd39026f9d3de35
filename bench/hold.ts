/**
 * `bin/node bench/hold.ts [ROUNDS]`: how long an owner waits while strangers hold what they can get
 * of a daemon with `auth.token` and its limits as shipped. The daemon runs in a process of its own,
 * the strangers in a thread of their own. Each row measures ROUNDS rounds of calls (REST and gRPC,
 * on kept and on fresh connections, one after the other) undisturbed, and as many while the
 * strangers stand, five times in turns; a figure is the median over the five, and the ratio that of
 * the p99 of both in the same turn. Prints one line of JSON per attack; ends 1 when a ratio is
 * above 2, a call was not served, or the daemon's metrics say that the strangers hold less than
 * they are there for.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { folderConfig, smallArchive, writeFiles } from "../test/contract/corpus.ts";
import { removeTemporaryFolders, scrapeValue, startDaemon } from "../test/contract/daemon.ts";
import { OWNER_KINDS, ownerCalls } from "../test/support/owner-calls.ts";
import { ATTACKS, PULL_ENDPOINT } from "../test/support/attacks.ts";
import type { AttackOrder } from "./hold-attacker.ts";

const BAR = 2;
const TURNS = 5;
const WARM_ROUNDS = 1_000;
/** Until what one attack left behind is gone. */
const PAUSE_MS = 1_500;
const TOKEN = "operator-token-of-this-bench";
/** The names of attacks, each with its protocols. */
const ROWS = [
  ["2,000 slow heads", "h1"],
  ["2,000 slow heads", "h2"],
  ["2,000 slow bodies", "h1"],
  ["2,000 slow bodies", "h2"],
  ["800 unread answers", "h2"],
  ["285 watches over 3 connections", "h2"],
] as const;
const rounds = Number(process.argv[2] ?? 250);

interface Latency {
  readonly p50: number;
  readonly p99: number;
  readonly missed: number;
}

const folder = mkdtempSync(join(tmpdir(), "steward-bench-"));
writeFiles(join(folder, "archive"), smallArchive);
const daemon = await startDaemon({
  config: folderConfig(join(folder, "state"), join(folder, "archive"), PULL_ENDPOINT),
  env: { STEWARD_AUTH__TOKEN: TOKEN },
});
const attacker = new Worker(new URL("hold-attacker.ts", import.meta.url));

async function order(what: AttackOrder): Promise<number> {
  attacker.postMessage(what);
  const [standing] = (await once(attacker, "message")) as [number];
  return standing;
}

async function measure(count: number): Promise<Latency> {
  const calls = ownerCalls(daemon.url, TOKEN);
  for (let round = 0; round < count; round += 1) await calls.round(OWNER_KINDS);
  calls.close();
  const results = OWNER_KINDS.map((kind) => calls.results[kind]);
  const times = results.flatMap((result) => result.times).toSorted((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? Infinity;
  return {
    p50: at(0.5),
    p99: at(0.99),
    missed: results.reduce((sum, { asked, served }) => sum + asked - served, 0),
  };
}

function median(values: readonly number[]): number {
  return Number((values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0).toFixed(2));
}

let failed = false;
await measure(WARM_ROUNDS);
for (const [attack, version] of ROWS) {
  const { gauge, atLeast } = ATTACKS[attack];
  const turns: { quiet: Latency; under: Latency; standing: number; held: number }[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const quiet = await measure(rounds);
    await order({ begin: attack, url: daemon.url, version });
    const held = await scrapeValue(daemon, gauge);
    const under = await measure(rounds);
    const standing = await order("end");
    await sleep(PAUSE_MS);
    turns.push({ quiet, under, standing, held });
  }
  const of = (pick: (turn: (typeof turns)[number]) => number): number => median(turns.map(pick));
  const ratio = of(({ quiet, under }) => under.p99 / quiet.p99);
  const missed = turns.reduce((sum, { under }) => sum + under.missed, 0);
  const held = of((turn) => turn.held);
  failed ||= ratio > BAR || missed > 0 || held < atLeast;
  process.stdout.write(
    `${JSON.stringify({
      attack: `${attack}, ${version}`,
      [gauge]: held,
      standing: of(({ standing }) => standing),
      undisturbed_ms: { p50: of(({ quiet }) => quiet.p50), p99: of(({ quiet }) => quiet.p99) },
      under_attack_ms: { p50: of(({ under }) => under.p50), p99: of(({ under }) => under.p99) },
      p99_ratio: ratio,
      not_served: missed,
    })}\n`,
  );
}
await attacker.terminate();
await daemon.stop();
removeTemporaryFolders();
rmSync(folder, { recursive: true, force: true });
if (failed)
  process.stderr.write(
    `the bar is a p99 of at most ${BAR} times the undisturbed one, every call served, and strangers who hold what they can\n`,
  );
process.exit(failed ? 1 : 0);
