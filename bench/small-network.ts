/**
 * What the daemon takes where little is to do: the monitor alone, 25 devices, every collector each
 * 20 s, exported over OTLP gRPC and scraped once a cycle. The network and the receiver are other
 * processes. Takes eight minutes. Prints the CPU time of a start and of a collection cycle, and resident memory; ends 1
 * when a limit is missed. Run: `npm run bench:small`; `-- --tree DIR` measures the built tree in
 * DIR instead of `dist`; `--warm 1 --cycles 1` is a trial.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { TailscaleReady } from "../src/demo/tailscale/process.ts";
import { monitorKeys } from "../src/monitor/config/keys.ts";
import { startReceiver, type Receiver } from "../test/support/otlp/receiver.ts";

const DEVICES = 25;
const CYCLE_S = 20;
const LIMIT_RESIDENT_MB = 150;
const LIMIT_CYCLE_S = 0.12;
/** `/proc` counts CPU time in these (USER_HZ is 100 on all that Node runs on). */
const TICK_S = 0.01;
const PATIENCE_MS = 60_000;
const POLL_MS = 100;

const { values: options } = parseArgs({
  options: {
    tree: { type: "string", default: resolve(import.meta.dirname, "../dist") },
    // Until V8 has compiled what runs in a cycle; a monitor runs for months.
    warm: { type: "string", default: "12" },
    cycles: { type: "string", default: "10" },
  },
});

/** CPU time of the process and its threads, user and system. */
function cpuSeconds(pid: number): number {
  const [, fields = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const [user, system] = [11, 12].map((index) => Number(fields.split(" ")[index]));
  return ((user ?? 0) + (system ?? 0)) * TICK_S;
}

function statusMb(pid: number, field: "VmRSS" | "VmHWM"): number {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  return (Number(new RegExp(`${field}:\\s+(\\d+)`).exec(text)?.[1]) * 1_024) / 1e6;
}

/** Every collector runs once in a cycle; the first runs follow at once. */
function intervals(): Record<string, string> {
  const paths = monitorKeys
    .map(({ path }) => path)
    .filter((path) => /^collectors\.[a-z0-9_]+\.interval$/.test(path));
  return Object.fromEntries(
    paths.map((path) => [`STEWARD_${path.toUpperCase().replaceAll(".", "__")}`, `${CYCLE_S}s`]),
  );
}

function environment(network: TailscaleReady, receiver: Receiver, state: string) {
  return {
    PATH: process.env["PATH"],
    HOME: state,
    STATE_DIRECTORY: state,
    STEWARD_SERVICES__DEDUP: "false",
    STEWARD_SERVICES__TOKENS: "false",
    STEWARD_VPN__URL: network.url,
    STEWARD_VPN__AUTH__OAUTH__CLIENT_ID: network.credentials.clientId,
    STEWARD_VPN__AUTH__OAUTH__CLIENT_SECRET: network.credentials.clientSecret,
    STEWARD_VERSION_CHECKS__DEVICES__ENABLED: "false",
    STEWARD_OTLP__PROTOCOL: "grpc",
    STEWARD_OTLP__ENDPOINT: `127.0.0.1:${receiver.port}`,
    STEWARD_OTLP__TLS__INSECURE: "true",
    STEWARD_OTLP__METRIC_INTERVAL: `${CYCLE_S}s`,
    STEWARD_SCRAPE__ENABLED: "true",
    STEWARD_SCRAPE__LISTEN: "127.0.0.1:0",
    STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
    ...intervals(),
  };
}

async function startNetwork(): Promise<{ child: ChildProcess; ready: TailscaleReady }> {
  const program = new URL("../src/demo/tailscale/process.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [program, JSON.stringify({ devices: DEVICES, seed: 1 })], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  for await (const chunk of child.stdout) {
    text += String(chunk);
    if (text.includes("\n")) break;
  }
  return { child, ready: JSON.parse(text) as TailscaleReady };
}

async function until<T>(read: () => T | undefined, complaint: () => string): Promise<T> {
  for (const untilMs = Date.now() + PATIENCE_MS; Date.now() < untilMs; await sleep(POLL_MS)) {
    const value = read();
    if (value !== undefined) return value;
  }
  throw new Error(complaint());
}

function judge(name: string, shown: string, met: boolean): void {
  process.stdout.write(`${met ? "met   " : "MISSED"} ${name}: ${shown}\n`);
  if (!met) process.exitCode = 1;
}

/** CPU time of each of the next cycles, in which metrics are scraped once. */
async function cycles(
  pid: number,
  address: string,
  count: number,
): Promise<{ readonly cycleS: number; readonly series: number }> {
  const beganS = cpuSeconds(pid);
  let series = 0;
  for (let cycle = 1; cycle <= count; cycle++) {
    const text = await (await fetch(`http://${address}/metrics`)).text();
    series = text.match(/^[^#\n]/gm)?.length ?? 0;
    await sleep(CYCLE_S * 1_000);
  }
  return { cycleS: (cpuSeconds(pid) - beganS) / count, series };
}

async function measure(child: ChildProcess): Promise<void> {
  const pid = child.pid ?? 0;
  let log = "";
  child.stderr?.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const address = await until(
    () => /listening name=metrics address=(\S+)/.exec(log)?.[1],
    () => `the daemon does not listen:\n${log}`,
  );
  const startS = cpuSeconds(pid);
  const warm = await cycles(pid, address, Number(options.warm));
  const { cycleS, series } = await cycles(pid, address, Number(options.cycles));
  const [resident, highest] = [statusMb(pid, "VmRSS"), statusMb(pid, "VmHWM")];
  process.stdout.write(
    `${series} series; CPU time of the start ${startS.toFixed(2)} s, of each of the first ${options.warm} cycles ${warm.cycleS.toFixed(3)} s; resident at its highest ${highest.toFixed(0)} MB\n`,
  );
  judge(
    "CPU time of a cycle",
    `${cycleS.toFixed(3)} s, limit <= ${LIMIT_CYCLE_S}`,
    cycleS <= LIMIT_CYCLE_S,
  );
  judge(
    "resident memory",
    `${resident.toFixed(0)} MB, limit <= ${LIMIT_RESIDENT_MB}`,
    resident <= LIMIT_RESIDENT_MB,
  );
}

async function run(): Promise<void> {
  const state = mkdtempSync(join(tmpdir(), "steward-bench-"));
  const receiver = await startReceiver({ protocol: "grpc" });
  const network = await startNetwork();
  const child = spawn(join(options.tree, "bin/steward"), [], {
    env: environment(network.ready, receiver, state),
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  try {
    await measure(child);
  } finally {
    child.kill("SIGTERM");
    await ended;
    network.child.kill("SIGTERM");
    await receiver.close();
    rmSync(state, { recursive: true, force: true });
  }
}

await run();
process.exit();
