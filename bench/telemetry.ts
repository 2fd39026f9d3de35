/**
 * 100,000 series exported over OTLP gRPC, read through `expose` and pulled from the endpoint's
 * port, the latter beside a server that writes the same bytes by plain string joins: how long the
 * serving thread stands still meanwhile, and what it costs in memory. Where the system tells
 * (Linux), time in which the thread was ready and other processes had the cores is shown and taken
 * off, so that a busy machine does not decide. Run: `bin/node bench/telemetry.ts [series]`. Ends 1
 * when a stall reaches the bar or a pull is less than half as fast as the joins.
 */
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { get } from "node:http";
import { setPriority } from "node:os";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { systemClock } from "../src/kernel/base/clock.ts";
import type { Log } from "../src/kernel/base/log.ts";
import { defineMetric } from "../src/kernel/telemetry/catalogue.ts";
import { createTelemetry } from "../src/kernel/telemetry/telemetry.ts";
import type { Telemetry } from "../src/kernel/telemetry/telemetry.ts";
import type { Row, Scope } from "../src/kernel/telemetry/types.ts";
import { startReceiver } from "../test/support/otlp/receiver.ts";

const BAR_MS = 50;
const METRICS = 100;
const SHARE_OF_JOINS = 0.5;
const SETTLE_MS = 300;
const ROUNDS = 5;
const MIB = 2 ** 20;
const silent: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silent,
};

type Names = "host.name" | "host.id" | "os.type" | "vpn.user" | "vpn.tags";
const rows: readonly Row<Names, "gauge">[] = Array.from({ length: METRICS }, (_, index) =>
  defineMetric({
    name: `bench.metric_${index}`,
    kind: "gauge",
    unit: "s",
    attributes: ["host.name", "host.id", "os.type", "vpn.user", "vpn.tags"],
    group: "Bench",
    help: "For the bench.",
  }),
);

interface Report {
  readonly port?: number;
  readonly points?: number;
  readonly largestBytes?: number;
  /** Of a pull: how long it took, and how much came. */
  readonly tookMs?: number;
  readonly bytes?: number;
}

/** Asked of the other process: what arrived, or that a URL be read. */
type Order = "report" | { readonly pull: string };

/**
 * Receives in a process of its own that gives way, so that decoding counts for nobody who is
 * measured: a real one has a machine of its own.
 */
async function receive(): Promise<void> {
  setPriority(5);
  const receiver = await startReceiver({ protocol: "grpc" });
  const say = (report: Report): void => void process.send?.(report);
  process.on("message", (order: Order) => {
    if (typeof order === "object") return void pullOnce(order.pull).then(say);
    say({ points: receiver.points().length, largestBytes: Math.max(...receiver.sizes) });
    receiver.clear();
  });
  say({ port: receiver.port });
}

function pullOnce(url: string): Promise<Report> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (answer) => {
      let bytes = 0;
      answer
        .on("data", (chunk: Buffer) => (bytes += chunk.length))
        .on("end", () => resolve({ tookMs: performance.now() - began, bytes }))
        .on("error", reject);
    }).on("error", reject);
  });
}

function hear(child: ChildProcess): Promise<Report> {
  return new Promise((resolve) => child.once("message", (report) => resolve(report as Report)));
}

/**
 * Milliseconds that the main thread was ready to run and had no core, since it began; 0 where the
 * system does not tell.
 */
function waitedForCore(): number {
  try {
    return (
      Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[1]) / 1e6
    );
  } catch {
    return 0;
  }
}

/**
 * The longest gap beyond 2 ms of a 2 ms timer while `work` ran, without the waiting for a core in
 * it.
 */
async function measure(name: string, work: () => Promise<unknown> | undefined): Promise<number> {
  await sleep(SETTLE_MS);
  let last = performance.now();
  let lastWaited = waitedForCore();
  let [longest, longestSeen] = [0, 0];
  const timer = setInterval(() => {
    const [now, waited] = [performance.now(), waitedForCore()];
    longestSeen = Math.max(longestSeen, now - last - 2);
    longest = Math.max(longest, now - last - 2 - (waited - lastWaited));
    [last, lastWaited] = [now, waited];
  }, 2);
  const before = performance.eventLoopUtilization();
  const began = performance.now();
  await work();
  const tookMs = performance.now() - began;
  const busyMs = performance.eventLoopUtilization(before).active;
  await sleep(20);
  clearInterval(timer);
  print(
    `${name.padEnd(28)} ${tookMs.toFixed(0).padStart(6)} ms   longest stall ${longest.toFixed(1).padStart(6)} ms (seen ${longestSeen.toFixed(1).padStart(6)})   busy ${busyMs.toFixed(0).padStart(4)} ms   resident ${(process.memoryUsage().rss / MIB).toFixed(0)} MiB`,
  );
  return longest;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/**
 * A collector's round, which yields as a collector does: after every 1,000 devices' worth of
 * points.
 */
async function sayAll(scope: Scope, perMetric: number, value: number): Promise<void> {
  const sweep = scope.sweep("bench");
  for (const row of rows) {
    for (let index = 0; index < perMetric; index++) {
      sweep.gauge(row, value + index, {
        "host.name": `host-${index}`,
        "host.id": `n${index}CNTRL`,
        "os.type": "linux",
        "vpn.user": `user-${index % 50}@example.org`,
        "vpn.tags": "tag:server",
      });
    }
    await sleep(0);
  }
  sweep.commit();
}

async function scrapeAll(telemetry: Telemetry): Promise<number> {
  let bytes = 0;
  for await (const chunk of telemetry.expose({ format: "text" }, new AbortController().signal).body)
    bytes += chunk.length;
  return bytes;
}

async function run(series: number): Promise<void> {
  const child = fork(import.meta.filename, ["receive"]);
  const { port = 0 } = await hear(child);
  const ask = (order: Order = "report"): Promise<Report> => {
    child.send(order);
    return hear(child);
  };
  await measure("idle", () => sleep(1_000));
  const telemetry = createTelemetry(
    { clock: systemClock, log: silent },
    {
      metrics: { protocol: "grpc", endpoint: `http://127.0.0.1:${port}`, intervalMs: 3_600_000 },
      pull: true,
      scrape: { listen: { host: "127.0.0.1", port: 0 }, coalesce: false },
    },
  );
  await telemetry.component.start(new AbortController().signal, (error) => print(String(error)));
  await telemetry.pull?.start(new AbortController().signal, () => undefined);
  await telemetry.flush(10_000);
  const scope = telemetry.scope({
    name: "process",
    resource: { "service.name": "steward" },
    constants: {},
  });
  const perMetric = series / METRICS;
  await measure(`${series} series are born`, () => sayAll(scope, perMetric, 0));
  let worst = 0;
  for (let round = 1; round <= ROUNDS; round++) {
    worst = Math.max(worst, await measure(`export ${round}`, () => telemetry.flush(60_000)));
    const { points = 0, largestBytes = 0 } = await ask();
    if (points !== series) throw new Error(`${points} points arrived of ${series}`);
    if (round === 1) print(`  largest request ${(largestBytes / MIB).toFixed(2)} MiB`);
  }
  let bytes = 0;
  for (let round = 1; round <= ROUNDS; round++)
    worst = Math.max(
      worst,
      await measure(`scrape ${round}`, async () => (bytes = await scrapeAll(telemetry))),
    );
  print(`  ${(bytes / MIB).toFixed(1)} MiB of text`);
  const share = await pulls(telemetry, ask, (stall) => (worst = Math.max(worst, stall)));
  worst = Math.max(
    worst,
    await measure("export and scrape at once", () =>
      Promise.all([telemetry.flush(60_000), scrapeAll(telemetry)]),
    ),
  );
  await ask();
  await measure("10 of 1,000 devices leave", () => sayAll(scope, perMetric - 10, 1));
  await telemetry.flush(60_000);
  print(`points after that: ${(await ask()).points}`);
  await telemetry.component.stop(10_000);
  child.kill();
  print(
    `longest stall of the serving thread in an export or a scrape: ${worst.toFixed(1)} ms (bar: < ${BAR_MS} ms)`,
  );
  print(`rate of a pull: ${share.toFixed(2)} of plain string joins (bar: >= ${SHARE_OF_JOINS})`);
  process.exitCode = worst < BAR_MS && share >= SHARE_OF_JOINS ? 0 : 1;
}

/**
 * Pulls and joined texts by turns, read by the other process; the rate of the first over that of
 * the second, by their medians.
 */
async function pulls(
  telemetry: Telemetry,
  ask: (order: Order) => Promise<Report>,
  stalled: (stall: number) => void,
): Promise<number> {
  const url = `http://${telemetry.status().ledger?.pull?.address}/metrics`;
  const text = await fetch(url, { headers: { "accept-encoding": "identity" } }).then((answer) =>
    answer.text(),
  );
  const worker = new Worker(new URL("./joined-text.ts", import.meta.url), { workerData: { text } });
  const joined = `http://127.0.0.1:${await new Promise<number>((resolve) => worker.once("message", resolve))}/`;
  const rates: Record<"pull" | "joins", number[]> = { pull: [], joins: [] };
  for (let round = 0; round <= 2 * ROUNDS; round++) {
    for (const [name, from] of [
      ["pull", url],
      ["joins", joined],
    ] as const) {
      let report: Report = {};
      const stall = await measure(
        `${name} ${round}`,
        async () => (report = await ask({ pull: from })),
      );
      if (name === "pull") stalled(stall);
      // The first round warms both.
      if (round > 0) rates[name].push((report.bytes ?? 0) / (report.tookMs ?? 1));
      print(
        `  ${((report.bytes ?? 0) / MIB).toFixed(1)} MiB in ${(report.tookMs ?? 0).toFixed(0)} ms as seen by the reader`,
      );
    }
  }
  await worker.terminate();
  return median(rates.pull) / median(rates.joins);
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

await (process.argv[2] === "receive" ? receive() : run(Number(process.argv[2] ?? 100_000)));
