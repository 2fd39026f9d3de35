/**
 * The monitor with a network of 10,000 devices and more than 100,000 series: collecting, exporting
 * over OTLP gRPC and being pulled from, each with its time, what it allocated and how long threads
 * stood still; then the memory of the whole daemon while it does all three. The network, the
 * measured process and this one, which receives, pulls and judges, are processes of their own. Run:
 * `npm run bench:monitor`, with `-- --quick` for a tenth of the devices, which is a trial and not
 * judged. Ends 1 when a bar is missed.
 */
import { fork, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { get } from "node:http";
import { setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { TailscaleReady } from "../src/demo/tailscale/process.ts";
import { startReceiver, type Receiver } from "../test/support/otlp/receiver.ts";
import type { Order, Run, Said } from "./monitor-daemon.ts";

const QUICK = process.argv.includes("--quick");
const DEVICES = QUICK ? 1_000 : 10_000;
const SERIES = DEVICES * 10;
const BAR_STALL_MS = 50;
const BAR_SHARE_OF_JOINS = 0.5;
const BAR_MEMORY_MB = 450;
const WARM_RUNS = 3;
const ROUNDS = 5;
const INTERVAL_S = 15;
/** Exports of the whole daemon, each with three pulls and a run of the collector. */
const MEMORY_ROUNDS = 3;
/** An export or a pull ends in this time. */
const APART_MS = 6_000;
const POLL_MS = 250;
const PATIENCE_MS = 60_000;
const MIB = 2 ** 20;
/**
 * Threads that serve, or that a late answer of would be felt; the telemetry thread is there to
 * work.
 */
const SERVING: readonly string[] = ["main", "monitor"];

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

/**
 * What the daemon is configured with: the defaults, but for what makes the series about 100,000 and
 * lets the bench be quick.
 */
function environmentOf(
  network: TailscaleReady,
  receiver: Receiver,
  state: string,
): NodeJS.ProcessEnv {
  return {
    PATH: process.env["PATH"],
    HOME: state,
    STATE_DIRECTORY: state,
    STEWARD_VPN__URL: network.url,
    STEWARD_VPN__AUTH__OAUTH__CLIENT_ID: network.credentials.clientId,
    STEWARD_VPN__AUTH__OAUTH__CLIENT_SECRET: network.credentials.clientSecret,
    // Ten thousand devices are 13 MB of JSON.
    STEWARD_VPN__MAX_RESPONSE_BYTES: "64MiB",
    STEWARD_COLLECTORS__DEVICES__INTERVAL: `${INTERVAL_S}s`,
    STEWARD_COLLECTORS__DEVICES__COLLECT_CONNECTIVITY: "false",
    // They cost a call for each device, so that a run is ten thousand calls.
    STEWARD_COLLECTORS__DEVICES__COLLECT_DEVICE_INVITES: "false",
    STEWARD_CARDINALITY__PER_ENTITY__USER: "false",
    STEWARD_VERSION_CHECKS__DEVICES__ENABLED: "false",
    STEWARD_OTLP__PROTOCOL: "grpc",
    STEWARD_OTLP__ENDPOINT: `127.0.0.1:${receiver.port}`,
    STEWARD_OTLP__TLS__INSECURE: "true",
    STEWARD_OTLP__METRIC_INTERVAL: "1h",
    STEWARD_SCRAPE__ENABLED: "true",
    STEWARD_SCRAPE__LISTEN: "127.0.0.1:0",
    STEWARD_SCRAPE__COALESCE_GATHER: "false",
    STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
  };
}

/** The measured process. */
class Daemon {
  readonly #child: ChildProcess;
  #pull = "";

  constructor(environment: NodeJS.ProcessEnv) {
    this.#child = fork(new URL("./monitor-daemon.ts", import.meta.url), {
      env: environment,
      execArgv: [
        "--disable-warning=ExperimentalWarning",
        "--import",
        new URL("./thread-probe.ts", import.meta.url).href,
        ...memoryFlags(),
      ],
    });
  }

  get pullUrl(): string {
    return `http://${this.#pull}/metrics`;
  }

  async opened(): Promise<void> {
    this.#pull = (await this.#hear()).pull ?? "";
  }

  publish(order: Order): Promise<Said> {
    this.#child.send(order);
    return this.#hear();
  }

  /** Its last run of a collector, once one ended after `sinceMs`. */
  async ran(collector: string, sinceMs: number): Promise<Run> {
    for (const untilMs = Date.now() + PATIENCE_MS; Date.now() < untilMs; await sleep(POLL_MS)) {
      const run = (await this.publish("runs")).runs?.find((each) => each.collector === collector);
      if (run !== undefined && run.finishedMs > sinceMs) return run;
    }
    throw new Error(`collector ${collector} did not run`);
  }

  /**
   * Longest stall of the serving threads while `work` runs; `tookMs` is what `work` says, or how
   * long it took.
   */
  async measure(name: string, work: () => Promise<number | undefined>): Promise<number> {
    await this.publish("begin");
    const began = performance.now();
    const tookMs = (await work()) ?? performance.now() - began;
    const { threads = [] } = await this.publish("end");
    const shown = threads.filter(
      ({ thread }) => thread === "telemetry" || SERVING.includes(thread),
    );
    const stalls = shown
      .map(
        ({ thread, stallMs, seenMs }) =>
          `${thread} ${stallMs.toFixed(1)} (seen ${seenMs.toFixed(1)})`,
      )
      .join(", ");
    const allocated = shown
      .map(({ thread, allocatedBytes }) => `${thread} ${(allocatedBytes / MIB).toFixed(1)}`)
      .join(", ");
    print(
      `${name.padEnd(22)} ${tookMs.toFixed(0).padStart(6)} ms   longest stall in ms: ${stalls}   allocated MiB: ${allocated}`,
    );
    return Math.max(
      ...threads.flatMap(({ thread, stallMs }) => (SERVING.includes(thread) ? [stallMs] : [])),
    );
  }

  #hear(): Promise<Said> {
    const { promise, resolve, reject } = Promise.withResolvers<Said>();
    const lost = (): void => reject(new Error("the measured process ended"));
    this.#child.once("exit", lost).once("message", (said) => resolve(said as Said));
    return promise.finally(() => this.#child.off("exit", lost));
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#child.once("exit", () => resolve());
      this.#child.disconnect();
    });
  }
}

/** What `bin/steward` starts Node with. */
function memoryFlags(): string[] {
  return [
    ...readFileSync(new URL("../bin/steward", import.meta.url), "utf8").matchAll(
      /--(?:heap-growing-percent=\d+|expose-gc)/g,
    ),
  ].map(([flag]) => flag);
}

/** Reads the whole answer; its size as it came over the wire. */
function pull(
  url: string,
  encoding: "identity" | "gzip",
): Promise<{ readonly tookMs: number; readonly bytes: number; readonly text: () => string }> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    get(url, { agent: false, headers: { "accept-encoding": encoding } }, (answer) => {
      const chunks: Buffer[] = [];
      answer
        .on("data", (chunk: Buffer) => chunks.push(chunk))
        .once("error", reject)
        .once("end", () =>
          resolve({
            tookMs: performance.now() - began,
            bytes: chunks.reduce((sum, chunk) => sum + chunk.length, 0),
            text: () => Buffer.concat(chunks).toString(),
          }),
        );
    }).once("error", reject);
  });
}

async function startNetwork(): Promise<{
  readonly child: ChildProcess;
  readonly ready: TailscaleReady;
}> {
  const child = spawn(
    process.execPath,
    [
      new URL("../src/demo/tailscale/process.ts", import.meta.url).pathname,
      JSON.stringify({ devices: DEVICES, seed: 1 }),
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  let text = "";
  for await (const chunk of child.stdout) {
    text += String(chunk);
    if (text.includes("\n")) break;
  }
  return { child, ready: JSON.parse(text) as TailscaleReady };
}

/** The collector of devices: the first run, in which every series is born, and those after it. */
async function collect(daemon: Daemon): Promise<void> {
  const beganMs = Date.now();
  // Its thread loads its modules while it starts, which is no part of collecting.
  await daemon.publish("start");
  await daemon.measure(
    "collect, all new",
    async () => (await daemon.ran("devices", beganMs)).tookMs,
  );
  for (let round = 1; round <= WARM_RUNS; round++) {
    await daemon.measure(
      `collect, warm ${round}`,
      async () => (await daemon.ran("devices", Date.now())).tookMs,
    );
  }
}

/** Waits until no run of the collector is near: what a run costs is measured by itself. */
async function quiet(daemon: Daemon): Promise<void> {
  const run = await daemon.ran("devices", 0);
  const nextMs = run.finishedMs - run.tookMs + INTERVAL_S * 1_000;
  if (Date.now() + APART_MS > nextMs) await daemon.ran("devices", run.finishedMs);
}

async function exportAll(daemon: Daemon, receiver: Receiver, series: number): Promise<number> {
  let worst = 0;
  for (let round = 1; round <= ROUNDS; round++) {
    await quiet(daemon);
    receiver.clear();
    worst = Math.max(
      worst,
      await daemon.measure(`export ${round}`, async () => (await daemon.publish("flush")).tookMs),
    );
    const points = pointsOf(receiver);
    if (points < SERIES || points < series * 0.9)
      throw new Error(`${points} points arrived of ${series}`);
    if (round === 1)
      print(
        `  ${points} points in ${receiver.batches.length} requests, the largest of ${(Math.max(...receiver.sizes) / MIB).toFixed(2)} MiB`,
      );
  }
  receiver.clear();
  return worst;
}

/**
 * Pulls and joined texts by turns; the rate of the first over that of the second, by their medians.
 */
async function pullAll(daemon: Daemon, text: string): Promise<number> {
  const worker = new Worker(new URL("./joined-text.ts", import.meta.url), { workerData: { text } });
  const joined = `http://127.0.0.1:${await new Promise<number>((resolve) => worker.once("message", resolve))}/`;
  const rates: Record<"pull" | "joins", number[]> = { pull: [], joins: [] };
  for (let round = 0; round <= ROUNDS; round++) {
    await quiet(daemon);
    for (const [name, from] of [
      ["pull", daemon.pullUrl],
      ["joins", joined],
    ] as const) {
      let rate = 0;
      const once = async (): Promise<number> => {
        const { tookMs, bytes } = await pull(from, "identity");
        rate = bytes / tookMs;
        return tookMs;
      };
      if (name === "pull")
        await daemon.measure(round === 0 ? "pull, not warm" : `pull ${round}`, once);
      else await once();
      // The first round warms both.
      if (round > 0) rates[name].push(rate);
    }
  }
  await worker.terminate();
  await daemon.measure("pull, gzip", async () => (await pull(daemon.pullUrl, "gzip")).tookMs);
  const [pulled, joins] = [median(rates.pull), median(rates.joins)];
  print(
    `  ${((pulled * 1_000) / MIB).toFixed(0)} MiB/s pulled, ${((joins * 1_000) / MIB).toFixed(0)} MiB/s by joins, ${(text.length / MIB).toFixed(1)} MiB each`,
  );
  return pulled / joins;
}

/**
 * The whole daemon as the launcher of the built tree starts it, which collects, exports and is
 * pulled from: its highest resident memory in MB.
 */
async function watchMemory(environment: NodeJS.ProcessEnv, receiver: Receiver): Promise<number> {
  const child = spawn(new URL("../dist/bin/steward", import.meta.url).pathname, [], {
    env: { ...environment, STEWARD_OTLP__METRIC_INTERVAL: `${INTERVAL_S}s` },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let told = "";
  child.stderr.on("data", (chunk: Buffer) => (told += chunk.toString()));
  try {
    for (let round = 1; round <= MEMORY_ROUNDS; round++) {
      receiver.clear();
      await until(
        () => pointsOf(receiver) >= SERIES,
        () => `the daemon did not export:\n${told}`,
      );
      const address = /listening name=metrics address=(\S+)/.exec(told)?.[1] ?? "";
      for (const encoding of ["identity", "gzip", "identity"] as const)
        await pull(`http://${address}/metrics`, encoding);
    }
    return residentMb(child.pid ?? 0);
  } finally {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    await ended;
  }
}

function pointsOf(receiver: Receiver): number {
  return receiver.batches.reduce((sum, batch) => sum + batch.length, 0);
}

async function until(done: () => boolean, complaint: () => string): Promise<void> {
  for (const untilMs = Date.now() + PATIENCE_MS; !done(); await sleep(POLL_MS))
    if (Date.now() > untilMs) throw new Error(complaint());
}

/** The most it ever was. */
function residentMb(pid: number): number {
  const [, kib = "0"] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return (Number(kib) * 1_024) / 1e6;
}

function judge(name: string, shown: string, met: boolean): void {
  print(`${met ? "met   " : "MISSED"} ${name}: ${shown}`);
  if (!met && !QUICK) process.exitCode = 1;
}

async function run(): Promise<void> {
  setPriority(5);
  const state = mkdtempSync(join(tmpdir(), "steward-bench-"));
  const receiver = await startReceiver({ protocol: "grpc" });
  const network = await startNetwork();
  try {
    const environment = environmentOf(network.ready, receiver, state);
    const daemon = new Daemon(environment);
    await daemon.opened();
    await daemon.measure("idle", () => sleep(1_000, undefined));
    await collect(daemon);
    const text = (await pull(daemon.pullUrl, "identity")).text();
    const series = text.match(/^[^#\n]/gm)?.length ?? 0;
    print(`  ${series} series of ${DEVICES} devices`);
    if (series < SERIES) throw new Error(`fewer than ${SERIES} series`);
    const stall = await exportAll(daemon, receiver, series);
    const share = await pullAll(daemon, text);
    await daemon.stop();
    const memory = existsSync("/proc/self/status")
      ? await watchMemory(environment, receiver)
      : undefined;
    judge(
      "longest stall of the main and the monitor's thread in an export",
      `${stall.toFixed(1)} ms, bar < ${BAR_STALL_MS} ms`,
      stall < BAR_STALL_MS,
    );
    judge(
      "rate of a pull over that of plain string joins",
      `${share.toFixed(2)}, bar >= ${BAR_SHARE_OF_JOINS}`,
      share >= BAR_SHARE_OF_JOINS,
    );
    if (memory !== undefined)
      judge(
        "resident memory of the daemon at its highest",
        `${memory.toFixed(0)} MB, bar <= ${BAR_MEMORY_MB} MB`,
        memory <= BAR_MEMORY_MB,
      );
  } finally {
    network.child.kill("SIGTERM");
    await receiver.close();
    rmSync(state, { recursive: true, force: true });
  }
}

await run();
process.exit();
