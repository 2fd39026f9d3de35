/**
 * `npm run test:soak [-- --minutes N] [--samples FILE]`: the daemon as shipped under a mixed load,
 * with all services, tracing on and an OTLP receiver that is dead, for an hour or as long as said
 * (`STEWARD_SOAK_MINUTES`). Prints a table; exits 1 when a bar is missed.
 *
 * Judged over the second half, in which caches are full: the trend of resident memory, threads and
 * descriptors (docs/reliability.md).
 */
import { appendFileSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { writeDemoArchive } from "../support/demo-archive.ts";
import {
  removeTemporaryFolders,
  startDaemon,
  temporaryFolder,
  type Daemon,
} from "../contract/daemon.ts";
import { bothNetworks, startEstate, type Estate } from "../contract/monitor-estate.ts";
import { appKey, startCodeHost, vaultRequest } from "../contract/vault.ts";
import type { CodeHost } from "../../src/demo/code-host/code-host.ts";
import { startActivities, type Outcome, type Running } from "./activities.ts";
import { startDeadReceiver, type DeadReceiver } from "./dead-receiver.ts";
import { collectGarbage, INSPECTOR_PORT, openInspector } from "./garbage.ts";
import { load, type Target } from "./load.ts";
import { sampleProcess, type ProcessSample } from "./process-sample.ts";
import { judge, printTable, type Row, type Verdict } from "./verdict.ts";

const MINUTE_MS = 60_000;
const DEFAULT_MINUTES = 60;
/** The process is looked at so often; a row is the lowest of each value in its time. */
const LOOK_MS = 1_000;
const ROW_MS = 10_000;
/** The receiver refuses for so long, then hangs for as long, and so on. */
const RECEIVER_TURN_MS = 5 * MINUTE_MS;
/**
 * The load rests at the end of each cycle, so that what it needed for a while is given back and
 * what stays can be read.
 */
const CYCLE_MS = 3 * MINUTE_MS;
const REST_MS = MINUTE_MS;
/**
 * Since the load rests: a worker thread ends after 30 s without work, then garbage is collected,
 * and what is left is read at last.
 */
const COLLECTED_MS = 38_000;
const SETTLED_MS = 50_000;
const COLLECT_EVERY = "5s";
const TOKEN = "soak-0123456789abcdef";
/**
 * So few that all pairs of nodes that speak with each other have been seen before the second half.
 */
const DEVICES = 24;
const TALKERS = 6;
const REWRITTEN_FILES = 60;
/** Lines of errors that are kept. */
const MAX_ERRORS = 100;
const NOTHING = { dataMiB: NaN, codeMiB: NaN };
const PULL_LINE = /listening.*name=metrics.*address=127\.0\.0\.1:(\d+)/;
const ROOT_LINE = /root token[^:]*: (\S+)/;
const COLUMNS = [
  "atMs",
  "residentMiB",
  "anonymousMiB",
  "fileMiB",
  "sharedMiB",
  "threads",
  "descriptors",
  "cpuSeconds",
  "resting",
  "dataMiB",
  "codeMiB",
] as const;

const { values } = parseArgs({
  options: { minutes: { type: "string" }, samples: { type: "string" }, state: { type: "string" } },
});
const minutes = Number(values.minutes ?? (process.env["STEWARD_SOAK_MINUTES"] || DEFAULT_MINUTES));
if (!(minutes > 0)) {
  process.stderr.write("--minutes must be a number above 0\n");
  process.exit(2);
}

interface Setting {
  readonly estate: Estate;
  readonly host: CodeHost;
  readonly receivers: readonly DeadReceiver[];
  readonly folder: string;
  readonly state: string;
}

function configurationOf({ estate, receivers: [grpc, http], folder, state }: Setting): string {
  // The cardinality as shipped: with a series for each source port their number grows until the
  // limit of a metric, and memory with it.
  const { cardinality: _, ...networks } = JSON.parse(
    JSON.stringify(bothNetworks(estate)).replaceAll(
      '"interval":"1s"',
      `"interval":"${COLLECT_EVERY}"`,
    ),
  ) as Record<string, unknown>;
  return JSON.stringify({
    gateway: { listen: "127.0.0.1:0" },
    auth: { token: TOKEN },
    state: { directory: state },
    scrape: { enabled: true, listen: "127.0.0.1:0" },
    tracing: { enabled: true },
    otlp: {
      endpoint: `http://127.0.0.1:${http?.port}`,
      metric_interval: "15s",
      metrics: { endpoint: `127.0.0.1:${grpc?.port}`, protocol: "grpc", tls: { insecure: true } },
    },
    dedup: {
      archives: [{ name: "papers", kind: "folder", path: folder }],
      metrics_endpoint: { enabled: true },
    },
    ...networks,
  });
}

async function prepare(): Promise<Setting> {
  const folder = join(temporaryFolder(), "papers");
  await writeDemoArchive(folder, { seed: 7, documents: 400 });
  mkdirSync(join(folder, "rewritten"));
  for (let at = 0; at < REWRITTEN_FILES; at += 1)
    writeFileSync(join(folder, "rewritten", `note-${at}.txt`), `Note ${at}\n`.repeat(40));
  return {
    estate: await startEstate({ devices: DEVICES, talkers: TALKERS }),
    host: await startCodeHost({ hourlyLimit: "off" }),
    receivers: [await startDeadReceiver(), await startDeadReceiver()],
    folder,
    state: values.state ?? temporaryFolder(),
  };
}

/** Configures the engine and a role for logins. */
async function configureTokens(daemon: Daemon, host: CodeHost): Promise<string> {
  const root = lineMatch(daemon, ROOT_LINE);
  const ask = async (method: string, path: string, body: unknown): Promise<void> => {
    const answer = await vaultRequest(daemon.url, method, path, { token: root, body });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  };
  await ask("POST", "github/config", { app_id: 7, prv_key: appKey.privateKey, base_url: host.url });
  await ask("POST", "sys/auth/approle", { type: "approle" });
  await ask("POST", "auth/approle/role/app", {
    token_policies: "default",
    token_ttl: "60s",
    token_max_ttl: "60s",
    secret_id_num_uses: 1,
    secret_id_ttl: "60s",
  });
  return root;
}

function lineMatch(daemon: Daemon, pattern: RegExp): string {
  const found = daemon.stderr
    .map((line) => pattern.exec(line)?.[1])
    .find((match) => match !== undefined);
  if (found === undefined)
    throw new Error(
      `no line of the daemon matches ${pattern.source}:\n${daemon.stderr.join("\n")}`,
    );
  return found;
}

async function targetOf(daemon: Daemon, { host, folder }: Setting): Promise<Target> {
  const files = readdirSync(join(folder, "rewritten")).map((name) => join("rewritten", name));
  return {
    url: daemon.url,
    pullUrl: `http://127.0.0.1:${lineMatch(daemon, PULL_LINE)}`,
    token: TOKEN,
    root: await configureTokens(daemon, host),
    folder,
    files,
  };
}

/** Turns both receivers from refusing to hanging and back while the soak lasts. */
async function turnReceivers(
  receivers: readonly DeadReceiver[],
  ended: AbortSignal,
): Promise<void> {
  for (let hanging = true; !ended.aborted; hanging = !hanging) {
    await sleep(RECEIVER_TURN_MS, undefined, { signal: ended }).catch(() => undefined);
    await Promise.all(
      receivers.map((receiver) =>
        hanging && !ended.aborted ? receiver.hang() : receiver.refuse(),
      ),
    );
  }
}

function lowestOf(looks: readonly ProcessSample[]): ProcessSample {
  const lowest = (of: (sample: ProcessSample) => number): number => Math.min(...looks.map(of));
  const last = looks.at(-1);
  if (last === undefined) throw new Error("nothing was read");
  return {
    ...last,
    residentMiB: lowest((each) => each.residentMiB),
    anonymousMiB: lowest((each) => each.anonymousMiB),
    fileMiB: lowest((each) => each.fileMiB),
    sharedMiB: lowest((each) => each.sharedMiB),
    threads: lowest((each) => each.threads),
    descriptors: lowest((each) => each.descriptors),
  };
}

function writeRow(row: Row, file: string | undefined): void {
  if (file !== undefined)
    appendFileSync(
      file,
      `${COLUMNS.map((column) => Number(Number(row[column]).toFixed(2))).join(",")}\n`,
    );
}

/** Looks at the process until the time is over or it is gone. */
async function watch(
  daemon: Daemon,
  activities: Running,
  errors: string[],
  ended: AbortSignal,
): Promise<Row[]> {
  const rows: Row[] = [];
  const beganMs = performance.now();
  if (values.samples !== undefined) writeFileSync(values.samples, `${COLUMNS.join(",")}\n`);
  const looksInAll = (minutes * MINUTE_MS) / LOOK_MS;
  const inspector = await openInspector(daemon.pid, daemon.stderr);
  let live = NOTHING;
  for (let looks: ProcessSample[] = [], look = 0; look < looksInAll && !ended.aborted; look += 1) {
    const restedMs = ((look * LOOK_MS) % CYCLE_MS) - (CYCLE_MS - REST_MS);
    if (restedMs >= 0) activities.pause();
    else activities.resume();
    if (restedMs === COLLECTED_MS) {
      live = NOTHING;
      void collectGarbage(inspector).then(
        ({ dataMiB, codeMiB }) => (live = { dataMiB, codeMiB }),
        (error: unknown) => errors.push(String(error)),
      );
    }
    await sleep(Math.max(0, beganMs + (look + 1) * LOOK_MS - performance.now()));
    const sample = sampleProcess(daemon.pid, Math.round(performance.now() - beganMs));
    if (sample === undefined) break;
    looks.push(sample);
    // What the daemon logs is not kept: a day of it is much.
    errors.push(
      ...daemon.stderr
        .splice(0)
        .filter((line) => / error /.test(line))
        .slice(0, MAX_ERRORS - errors.length),
    );
    if (looks.length < ROW_MS / LOOK_MS) continue;
    const row = { ...lowestOf(looks), resting: restedMs + LOOK_MS - ROW_MS >= SETTLED_MS, ...live };
    rows.push(row);
    writeRow(row, values.samples);
    looks = [];
  }
  return rows;
}

async function soak(
  setting: Setting,
): Promise<{ rows: readonly Row[]; outcomes: readonly Outcome[]; verdicts: readonly Verdict[] }> {
  const daemon = await startDaemon({
    config: configurationOf(setting),
    env: { NODE_OPTIONS: INSPECTOR_PORT },
  });
  const ended = new AbortController();
  // Whatever ends this process, the daemon does not outlive it.
  const kill = (): void => void process.kill(daemon.pid, "SIGKILL");
  process.once("exit", kill);
  void daemon.exited.then(() => {
    process.off("exit", kill);
    ended.abort();
  });
  const errors: string[] = [];
  const target = await targetOf(daemon, setting);
  process.stdout.write(`daemon ${daemon.pid} at ${daemon.url}, for ${minutes} minutes\n`);
  const activities = startActivities(load(target));
  const turning = turnReceivers(setting.receivers, ended.signal);
  const rows = await watch(daemon, activities, errors, ended.signal).finally(() => ended.abort());
  await Promise.all([activities.stop(), turning]);
  const ready = await fetch(`${daemon.url}/readyz`).then(({ status }) => status, String);
  const { code, signal } = await daemon.stop();
  return {
    rows,
    outcomes: activities.outcomes,
    verdicts: judge({ rows, outcomes: activities.outcomes, errors, ready, exit: signal ?? code }),
  };
}

const setting = await prepare();
const { rows, outcomes, verdicts } = await soak(setting);
await Promise.all([
  setting.host.stop(),
  setting.estate[Symbol.asyncDispose](),
  ...setting.receivers.map((receiver) => receiver.refuse()),
]);
removeTemporaryFolders();
printTable(rows, outcomes, verdicts);
process.exit(verdicts.every(({ passed }) => passed) ? 0 : 1);
