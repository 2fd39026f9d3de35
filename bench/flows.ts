/**
 * Flow records by HTTP POST through validation, enrichment, roll-up, log record and flow store:
 * connections a second, times of a POST, CPU time and stalls of the built daemon, beside a bare
 * Node server that only parses the same bodies. Network, receiver of OTLP, bare server and the four
 * senders are processes of their own on the same machine. Run: `npm run bench:flows`, about a
 * minute and a half; `-- --seconds N` changes that, `-- --half MINUTES` adds half load for that long, with the growth of resident
 * memory. Ends 1 when a bar is missed.
 */
import { fork, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { TailscaleReady } from "../src/demo/tailscale/process.ts";
import {
  CONNECTIONS,
  RECORDS,
  type DaemonReport,
  type Load,
  type LoadReport,
  type Reporter,
  type ServerReport,
} from "./flows-protocol.ts";

const BAR_PER_SECOND = 60_000;
const BAR_P99_MS = 100;
const BAR_STALL_MS = 50;
const BAR_SHARE_OF_BARE = 0.25;
const BAR_GROWTH_MB = 20;
const BAR_PER_CPU_SECOND = 45_000;
const BAR_SHARE_WITH_LOG = 0.6;
const SENDERS = 4;
const DEVICES = 200;
const PATIENCE_MS = 60_000;
const POLL_MS = 100;
/** `/proc` counts CPU time in these (USER_HZ is 100 on all that Node runs on). */
const TICK_S = 0.01;
const TOKEN = "a-token-of-this-bench";
const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "20" },
    half: { type: "string", default: "0" },
    tree: { type: "string", default: new URL("../dist", import.meta.url).pathname },
    profile: { type: "string" },
  },
});
const MEASURED_MS = Number(options.seconds) * 1_000;
const WARM_MS = MEASURED_MS / 2;
const BARE_MS = MEASURED_MS / 3;
const halfMs = Number(options.half) * 60_000;
let seed = 1;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function judge(name: string, shown: string, met: boolean): void {
  print(`${met ? "met   " : "MISSED"} ${name}: ${shown}`);
  if (!met) process.exitCode = 1;
}

async function answerOf<T>(child: ChildProcess): Promise<T> {
  const [message] = (await once(child, "message")) as [T];
  return message;
}

/** What the launcher gives the daemon. */
function launchFlags(): string[] {
  const launcher = readFileSync(join(options.tree, "bin/steward"), "utf8");
  return [...launcher.matchAll(/--(?:heap-growing-percent=\d+|expose-gc)/g)].map(([flag]) => flag);
}

function startDaemon(
  network: TailscaleReady,
  sinkPort: number,
  { state, wal }: { readonly state: string; readonly wal: boolean },
): ChildProcess {
  const probe = (file: string): string[] => ["--import", new URL(file, import.meta.url).href];
  return fork(join(options.tree, "lib/main.js"), [], {
    execArgv: [
      "--disable-warning=ExperimentalWarning",
      ...launchFlags(),
      ...probe("./thread-probe.ts"),
      ...probe("./flows-probe.ts"),
      ...(options.profile === undefined
        ? []
        : ["--cpu-prof", "--cpu-prof-interval=500", `--cpu-prof-dir=${options.profile}`]),
    ],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    env: {
      PATH: process.env["PATH"],
      HOME: state,
      STATE_DIRECTORY: state,
      MALLOC_ARENA_MAX: "2",
      MALLOC_MMAP_THRESHOLD_: "131072",
      MALLOC_TRIM_THRESHOLD_: "131072",
      STEWARD_SERVICES__DEDUP: "false",
      STEWARD_SERVICES__TOKENS: "false",
      STEWARD_VPN__URL: network.url,
      STEWARD_VPN__AUTH__OAUTH__CLIENT_ID: network.credentials.clientId,
      STEWARD_VPN__AUTH__OAUTH__CLIENT_SECRET: network.credentials.clientSecret,
      STEWARD_VERSION_CHECKS__DEVICES__ENABLED: "false",
      STEWARD_COLLECTORS__FLOWLOGS__SOURCE: "stream",
      STEWARD_COLLECTORS__AUDITLOGS__SOURCE: "stream",
      STEWARD_INGRESS_WAL__ENABLED: String(wal),
      STEWARD_STREAMING__ENABLED: "true",
      STEWARD_STREAMING__LISTEN: "127.0.0.1:0",
      STEWARD_STREAMING__TOKEN: TOKEN,
      STEWARD_OTLP__ENDPOINT: `http://127.0.0.1:${sinkPort}`,
      STEWARD_SCRAPE__ENABLED: "true",
      STEWARD_SCRAPE__LISTEN: "127.0.0.1:0",
      STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
    },
  });
}

/** Of the process and its threads. */
function cpuSeconds({ pid }: ChildProcess): number {
  const [, fields = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const [user, system] = [11, 12].map((index) => Number(fields.split(" ")[index]));
  return ((user ?? 0) + (system ?? 0)) * TICK_S;
}

function residentMb({ pid }: ChildProcess): number {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  return (Number(/VmRSS:\s+(\d+)/.exec(text)?.[1]) * 1_024) / 1e6;
}

async function until<T>(read: () => T | undefined, complaint: () => string): Promise<T> {
  for (const untilMs = Date.now() + PATIENCE_MS; Date.now() < untilMs; await sleep(POLL_MS)) {
    const value = read();
    if (value !== undefined) return value;
  }
  throw new Error(complaint());
}

async function startNetwork(): Promise<{ child: ChildProcess; ready: TailscaleReady }> {
  const program = new URL("../src/demo/tailscale/process.ts", import.meta.url).pathname;
  const child = spawn(
    process.execPath,
    [program, JSON.stringify({ devices: DEVICES, seed: 1, talkers: 0 })],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { child, ready: JSON.parse(line.toString()) as TailscaleReady };
}

async function reportersOf({ url, credentials }: TailscaleReady): Promise<Reporter[]> {
  const granted = await fetch(`${url}/api/v2/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({
      grant_type: "client_credentials",
      client_id: credentials.clientId,
      client_secret: credentials.clientSecret,
    }),
  });
  const { access_token: token } = (await granted.json()) as { readonly access_token: string };
  const listed = await fetch(`${url}/api/v2/tailnet/-/devices`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { devices } = (await listed.json()) as {
    readonly devices: readonly { readonly nodeId: string; readonly addresses: string[] }[];
  };
  return devices.map(({ nodeId, addresses }) => ({ nodeId, address: addresses[0] ?? "" }));
}

interface Sent {
  readonly requests: number;
  readonly connectionsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly refused: string;
}

/** All senders at once. */
async function load(
  senders: readonly ChildProcess[],
  what: Pick<Load, "port" | "ms" | "requestsPerSecond" | "reporters">,
): Promise<Sent> {
  const beganMs = performance.now();
  const reports = await Promise.all(
    senders.map((sender) => {
      sender.send({ ...what, authorization: `Splunk ${TOKEN}`, seed: (seed += 1) } satisfies Load);
      return answerOf<LoadReport>(sender);
    }),
  );
  const seconds = (performance.now() - beganMs) / 1_000;
  const times = reports.flatMap((report) => report.times).toSorted((left, right) => left - right);
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? Infinity;
  return {
    requests: times.length,
    connectionsPerSecond: (times.length * RECORDS * CONNECTIONS) / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    refused: JSON.stringify(reports.map(({ refused }) => refused)).replaceAll(/[[\]{},]+/g, " "),
  };
}

/** Sums of the daemon's own counters over their labels. */
async function counters(address: string): Promise<(name: string) => number> {
  // The figures of a thread are in the scrape after the one that asks for them.
  await (await fetch(`http://${address}/metrics`)).text();
  await sleep(1_000);
  const text = await (await fetch(`http://${address}/metrics`)).text();
  return (name) =>
    [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)]
      .filter(([, metric, labels]) => metric === name && labels?.includes("span") !== true)
      .reduce((sum, [, , , value]) => sum + Number(value), 0);
}

interface Peers {
  readonly daemon: ChildProcess;
  readonly sink: ChildProcess;
  readonly senders: readonly ChildProcess[];
  readonly stream: Pick<Load, "port" | "reporters">;
  readonly metrics: string;
}

async function received(sink: ChildProcess): Promise<number> {
  sink.send("count");
  return (await answerOf<ServerReport>(sink)).logRecords ?? 0;
}

interface Measured {
  readonly sent: Sent;
  readonly stallMs: number;
  readonly perCpuSecond: number;
}

async function measure(name: string, peers: Peers): Promise<Measured> {
  const { daemon, sink, senders, stream, metrics } = peers;
  await load(senders, { ...stream, ms: WARM_MS, requestsPerSecond: undefined });
  const [before, receivedBefore] = [await counters(metrics), await received(sink)];
  daemon.send("begin");
  const cpuBefore = cpuSeconds(daemon);
  const sent = await load(senders, { ...stream, ms: MEASURED_MS, requestsPerSecond: undefined });
  const cpu = cpuSeconds(daemon) - cpuBefore;
  daemon.send("end");
  const { threads } = await answerOf<DaemonReport>(daemon);
  const [after, receivedAfter] = [await counters(metrics), await received(sink)];
  const grew = (name: string): number => after(name) - before(name);
  const serving = threads.filter(({ thread }) => thread === "main" || thread === "monitor");
  const connections = sent.requests * RECORDS * CONNECTIONS;
  print(
    `${name}: ${sent.connectionsPerSecond.toFixed(0)} connections/s in ${sent.requests} bodies of ${RECORDS} x ${CONNECTIONS}, POST p50 ${sent.p50Ms.toFixed(1)} ms, p99 ${sent.p99Ms.toFixed(1)} ms, refused:${sent.refused}`,
  );
  print(
    `  accepted ${connections}, log records exported ${grew("svc_export_log_records_total")} (received ${receivedAfter - receivedBefore}), dropped ${grew("svc_processor_dropped_total")}, not stored ${grew("vpn_network_store_dropped_total")}`,
  );
  print(
    `  ${cpu.toFixed(1)} CPU-seconds: ${(connections / cpu).toFixed(0)} connections per CPU-second; resident ${residentMb(daemon).toFixed(0)} MB`,
  );
  for (const { thread, stallMs, seenMs, allocatedBytes, cpuMs } of threads)
    print(
      `  ${thread.padEnd(10)} ${((cpuMs * 1_000) / connections).toFixed(1)} us and ${(allocatedBytes / connections / 1_024).toFixed(1)} KiB of the heap per connection, longest stall ${stallMs.toFixed(1)} ms (seen ${seenMs.toFixed(1)})`,
    );
  return {
    sent,
    stallMs: Math.max(...serving.map(({ stallMs }) => stallMs)),
    perCpuSecond: connections / cpu,
  };
}

/** Resident memory of the last third less that of the second, by their means. */
async function measureHalf(peers: Peers, connectionsPerSecond: number): Promise<void> {
  const samples: number[] = [];
  const timer = setInterval(() => samples.push(residentMb(peers.daemon)), 1_000);
  const sent = await load(peers.senders, {
    ...peers.stream,
    ms: halfMs,
    requestsPerSecond: connectionsPerSecond / 2 / RECORDS / CONNECTIONS / SENDERS,
  });
  clearInterval(timer);
  const third = Math.floor(samples.length / 3);
  const mean = (from: number): number =>
    samples.slice(from, from + third).reduce((sum, each) => sum + each, 0) / third;
  print(
    `half load for ${options.half} minutes: ${sent.connectionsPerSecond.toFixed(0)} connections/s, p99 ${sent.p99Ms.toFixed(1)} ms, resident at most ${Math.max(...samples).toFixed(0)} MB`,
  );
  const growth = mean(2 * third) - mean(third);
  judge(
    "growth of resident memory from the second third of half load to the last",
    `${growth.toFixed(1)} MB, bar <= ${BAR_GROWTH_MB} MB`,
    growth <= BAR_GROWTH_MB,
  );
}

interface Site extends Pick<Peers, "sink" | "senders"> {
  readonly network: TailscaleReady;
  readonly reporters: readonly Reporter[];
  readonly sinkPort: number;
}

/** Runs the daemon while `work` does. */
async function withDaemon<T>(
  { network, reporters, sinkPort, sink, senders }: Site,
  { wal }: { readonly wal: boolean },
  work: (peers: Peers) => Promise<T>,
): Promise<T> {
  const state = mkdtempSync(join(tmpdir(), "steward-bench-"));
  const daemon = startDaemon(network, sinkPort, { state, wal });
  let log = "";
  daemon.stderr?.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const listens = (name: string): Promise<string> =>
    until(
      () => new RegExp(`listening name=${name} address=(\\S+)`).exec(log)?.[1],
      () => `the daemon does not listen:\n${log}`,
    );
  try {
    const metrics = await listens("metrics");
    const port = Number((await listens("stream")).split(":").at(-1));
    // The first runs of the collectors.
    await sleep(3_000);
    return await work({ daemon, sink, senders, stream: { port, reporters }, metrics });
  } finally {
    const ended = once(daemon, "exit");
    daemon.kill("SIGTERM");
    await ended;
    rmSync(state, { recursive: true, force: true });
  }
}

async function run(): Promise<void> {
  const start = (file: string, ...argv: string[]): ChildProcess =>
    fork(new URL(file, import.meta.url), argv, {
      execArgv: ["--disable-warning=ExperimentalWarning"],
    });
  const [sink, bare] = [start("./flows-server.ts", "sink"), start("./flows-server.ts", "bare")];
  const [{ port: sinkPort = 0 }, { port: barePort = 0 }] = await Promise.all([
    answerOf<ServerReport>(sink),
    answerOf<ServerReport>(bare),
  ]);
  const senders = Array.from({ length: SENDERS }, () => start("./flows-sender.ts"));
  const network = await startNetwork();
  try {
    const reporters = await reportersOf(network.ready);
    const site: Site = { network: network.ready, reporters, sinkPort, sink, senders };
    const { sent, stallMs, perCpuSecond } = await withDaemon(
      site,
      { wal: false },
      async (peers) => {
        const measured = await measure("in memory", peers);
        if (halfMs > 0) await measureHalf(peers, measured.sent.connectionsPerSecond);
        return measured;
      },
    );
    const plain = await load(senders, {
      port: barePort,
      reporters,
      ms: BARE_MS,
      requestsPerSecond: undefined,
    });
    print(
      `bare server: ${plain.connectionsPerSecond.toFixed(0)} connections/s, p99 ${plain.p99Ms.toFixed(1)} ms`,
    );
    const durable = await withDaemon(site, { wal: true }, (peers) =>
      measure("with the ingress log", peers),
    );
    const rate = sent.connectionsPerSecond;
    const atLeast = (name: string, value: number, bar: number, digits = 0): void =>
      judge(name, `${value.toFixed(digits)}, bar >= ${bar}`, value >= bar);
    const atMost = (name: string, ms: number, bar: number): void =>
      judge(name, `${ms.toFixed(1)} ms, bar <= ${bar} ms`, ms <= bar);
    atLeast("connections/s", rate, BAR_PER_SECOND);
    atLeast("connections per CPU-second", perCpuSecond, BAR_PER_CPU_SECOND);
    atMost("p99 of a POST", sent.p99Ms, BAR_P99_MS);
    atMost("longest stall of the main and the monitor's thread", stallMs, BAR_STALL_MS);
    atLeast(
      "rate over that of the bare server",
      rate / plain.connectionsPerSecond,
      BAR_SHARE_OF_BARE,
      2,
    );
    atLeast(
      "rate with the ingress log over that without",
      durable.sent.connectionsPerSecond / rate,
      BAR_SHARE_WITH_LOG,
      2,
    );
  } finally {
    network.child.kill("SIGTERM");
    for (const child of [sink, bare, ...senders]) child.disconnect();
  }
}

await run();
process.exit();
