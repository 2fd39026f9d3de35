/**
 * The measured process of `bench/monitor.ts`: telemetry and the monitor, configured and placed as
 * the daemon does it, and a hand on both: it exports when told to, and says when collectors ran and
 * what the probes of its threads counted.
 */
import { BroadcastChannel } from "node:worker_threads";
import { setTimeout as sleep } from "node:timers/promises";
import { configureDaemon, daemonSchema } from "../src/daemon/configuration.ts";
import { monitorOptionsOf, hostMonitor } from "../src/daemon/services/monitor.ts";
import { createProcessTelemetry } from "../src/daemon/telemetry/telemetry.ts";
import { systemClock } from "../src/kernel/base/clock.ts";
import { systemIds } from "../src/kernel/base/ids.ts";
import { createLog } from "../src/kernel/base/log.ts";
import { createSupervisor } from "../src/kernel/supervisor/supervisor.ts";
import { PROBE_CHANNEL, type ProbeOrder, type ProbeReport } from "./thread-probe.ts";

/** What it may be told. */
export type Order = "start" | "begin" | "end" | "flush" | "runs";

/** A collector's last run. */
export interface Run {
  readonly collector: string;
  readonly tookMs: number;
  readonly finishedMs: number;
  readonly good: boolean;
}

/** What it says: one for each order. */
export interface Said {
  readonly pull?: string;
  readonly tookMs?: number;
  readonly runs?: readonly Run[];
  readonly threads?: readonly ProbeReport[];
}

/** Threads answer in this time, or stand still. */
const ANSWER_MS = 250;
const FLUSH_MS = 60_000;
const STOP_MS = 10_000;

const configuration = configureDaemon({ config: undefined, demo: false }, process.env);
const log = createLog({
  level: "warn",
  format: "text",
  write: (line) => process.stderr.write(line),
  now: () => systemClock.now(),
});
const { telemetry } = await createProcessTelemetry({
  config: configuration.config,
  schema: daemonSchema,
  clock: systemClock,
  log,
  version: "0.0.0",
  pull: true,
});
const monitor = hostMonitor({
  clock: systemClock,
  ids: systemIds,
  on: "thread",
  options: monitorOptionsOf(configuration, process.env),
  telemetry,
  log,
  needs: ["telemetry"],
});
if (monitor === undefined) throw new Error("the bench configures a network");
const house = createSupervisor({ clock: systemClock, log });
house.add(monitor.telemetry);
if (telemetry.pull !== undefined) house.add(telemetry.pull);
await house.start();
await telemetry.flush(FLUSH_MS);
const probes = new BroadcastChannel(PROBE_CHANNEL);
const heard: ProbeReport[] = [];
probes.addEventListener("message", (event) => {
  const { data } = event as unknown as { readonly data: ProbeOrder | ProbeReport };
  if (typeof data === "object") heard.push(data);
});

async function counted(): Promise<readonly ProbeReport[]> {
  heard.length = 0;
  probes.postMessage("end" satisfies ProbeOrder);
  await sleep(ANSWER_MS);
  return [...heard];
}

/** Reads what collectors tell of themselves, and no other series. */
async function runs(): Promise<readonly Run[]> {
  let text = "";
  for await (const chunk of telemetry.expose(
    { format: "text", metrics: ["svc.scrape."] },
    AbortSignal.timeout(FLUSH_MS),
  ).body)
    text += Buffer.from(chunk).toString();
  const values = (name: string): Map<string, number> =>
    new Map(
      [...text.matchAll(new RegExp(`^${name}\\{.*vpn_collector="([^"]+)".*\\} (\\S+)$`, "gm"))].map(
        ([, collector = "", value]) => [collector, Number(value)],
      ),
    );
  const [took, good] = [values("svc_scrape_duration_seconds"), values("svc_scrape_success_ratio")];
  return [...values("svc_scrape_last_timestamp_seconds")].map(([collector, finished]) => ({
    collector,
    tookMs: (took.get(collector) ?? 0) * 1_000,
    finishedMs: finished * 1_000,
    good: good.get(collector) === 1,
  }));
}

async function obey(order: Order): Promise<Said> {
  const began = performance.now();
  switch (order) {
    case "start":
      await monitor?.component.start(new AbortController().signal, (error) =>
        log.error("the monitor broke", { error }),
      );
      return {};
    case "begin":
      probes.postMessage("begin" satisfies ProbeOrder);
      return {};
    case "end":
      return { threads: await counted() };
    case "flush":
      await telemetry.flush(FLUSH_MS);
      return { tookMs: performance.now() - began };
    case "runs":
      return { runs: await runs() };
  }
}

process.on("message", (order: Order) => void obey(order).then((said) => process.send?.(said)));
process.on("disconnect", () => void house.stop(STOP_MS).then(() => process.exit()));
const address = telemetry.status().ledger?.pull?.address;
process.send?.((address === undefined ? {} : { pull: address }) satisfies Said);
