/**
 * `bin/node bench/status.ts [SECONDS] [DEVICES]`: how long `GET /api/status.json` takes at four
 * clients over 10,000 devices and 100,000 series while they are collected, beside a bare Node
 * server that returns the same bytes in the same run, and how long the monitor's thread was held.
 * Asked for as it is, and packed, as browsers and HTTP libraries do. Prints a line of JSON per
 * figure; ends 1 when a p99 is above 30 ms or the thread was held for more than 50 ms of CPU.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { gzipSync } from "node:zlib";
import { createGateway } from "../gateway/gateway.ts";
import { systemClock } from "../src/kernel/base/clock.ts";
import { systemIds } from "../src/kernel/base/ids.ts";
import { createLog } from "../src/kernel/base/log.ts";
import { createServiceHost } from "../src/kernel/threads/host/service-host.ts";
import { everyCollector, tailscaleNetwork } from "../test/monitor/stage-options.ts";
import type { MonitorOptions, PrivacyOptions } from "../src/monitor/options.ts";
import type { LatencyOutcome, LatencyRequest } from "./latency-client.ts";
import { benchMonitorModule } from "./status-module.ts";

const BAR_MS = 30;
const HELD_BAR_MS = 50;
const ROUNDS = 3;
const CLIENTS = 4;
const SETTLE_MS = 22_000;
const COLLECT_MS = 10_000;
const seconds = Number(process.argv[2] ?? 12);
const devices = Number(process.argv[3] ?? 10_000);

const log = createLog({
  level: "error",
  format: "text",
  write: (line) => process.stderr.write(line),
  now: () => Date.now(),
});
const directory = mkdtempSync(join(tmpdir(), "steward-bench-"));
const privacy = Object.fromEntries(
  [
    "emails",
    "user_display_names",
    "user_ids",
    "hostnames",
    "node_ids",
    "vpn_ips",
    "internal_ips",
    "external_ips",
    "service_addrs",
    "endpoint_paths",
    "network_topology",
    "network_name",
    "free_text_details",
    "command_text",
  ].map((name) => [name, true]),
) as PrivacyOptions;
const { devices: deviceOptions } = everyCollector(COLLECT_MS);
const off = {
  users: undefined,
  keys: undefined,
  settings: undefined,
  acl: undefined,
  dns: undefined,
  contacts: undefined,
  webhooks: undefined,
  postureIntegrations: undefined,
  logStream: undefined,
  oauthApps: undefined,
  services: undefined,
  flowlogs: undefined,
  auditlogs: undefined,
};
const network = tailscaleNetwork(
  {
    url: "http://127.0.0.1:9",
    credentials: { clientId: "a", clientSecret: "b" },
    tailnet: "bench",
  } as Parameters<typeof tailscaleNetwork>[0],
  {
    ...everyCollector(COLLECT_MS),
    ...off,
    devices: deviceOptions && {
      ...deviceOptions,
      collectPosture: false,
      collectDeviceInvites: false,
      collectConnectivity: false,
      collectRoutes: false,
    },
  },
);
const monitor: MonitorOptions = {
  version: "1.0.0",
  networks: [{ ...network, cardinality: { ...network.cardinality, metricLimit: 20_000 } }],
  several: false,
  privacy,
  resource: { "service.name": "steward" },
  logs: undefined,
  metricIntervalMs: COLLECT_MS,
  checkpoint: {
    store: "memory",
    filePath: join(directory, "checkpoints.mdb"),
    isDefault: true,
    evidenceStore: "memory",
  },
  versionChecks: {
    devices: false,
    url: "http://127.0.0.1:9/",
    cacheTtlMs: 60_000,
    timeoutMs: 1_000,
  },
  annotations: undefined,
  events: { enabled: true, maxEvents: 100 },
  selfObservability: { enabled: true, instanceId: "" },
  configWarnings: 0,
};

const host = createServiceHost({ clock: systemClock, ids: systemIds, log }, benchMonitorModule, {
  on: "thread",
  options: { monitor, devices },
  heapMb: 512,
});
await host.start(new AbortController().signal, (error) =>
  process.stderr.write(`the monitor broke: ${String(error)}\n`),
);
const fine = { ok: true, reasons: [] };
const { rpc, plain } = host.service();
const gateway = createGateway(
  {
    services: rpc,
    plain,
    probes: { live: () => fine, ready: () => fine, serviceReady: () => true },
    auth: { allowedHosts: [] },
    clock: systemClock,
    ids: systemIds,
    log,
  },
  { address: { host: "127.0.0.1", port: 0 } },
);
await gateway.start();

const client = new Worker(new URL("latency-client.ts", import.meta.url));

function run(load: LatencyRequest): Promise<LatencyOutcome> {
  return new Promise((resolve, reject) => {
    client.once("message", (outcome: LatencyOutcome) =>
      outcome.error === undefined ? resolve(outcome) : reject(new Error(outcome.error)),
    );
    client.postMessage(load);
  });
}

interface Held {
  readonly held_max_ms: number;
  readonly held_p99_ms: number;
  readonly held_cpu_max_ms: number;
}

interface Document {
  readonly devices: readonly unknown[];
  readonly cardinality: { readonly total: number };
}

const url = (path: string): string => `http://127.0.0.1:${gateway.port}${path}`;
const get = async (path: string): Promise<Buffer> =>
  Buffer.from(await (await fetch(url(path))).arrayBuffer());
const held = async (): Promise<Held> => JSON.parse((await get("/bench/held")).toString()) as Held;

function figure(name: string, tookMs: readonly number[], bytes: number, spentMs: number): number {
  const sorted = tookMs.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    Number(
      (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1),
    );
  process.stdout.write(
    `${JSON.stringify({ way: name, bytes, calls_per_second: Math.round((tookMs.length * 1_000) / spentMs), p50_ms: at(0.5), p90_ms: at(0.9), p99_ms: at(0.99), max_ms: at(1) })}\n`,
  );
  return at(0.99);
}

// All series are born in the first run; what comes after it is how it goes on.
await setTimeout(SETTLE_MS / 2);
process.stdout.write(
  `${JSON.stringify({ thread: "monitor", when: "its start", ...(await held()) })}\n`,
);
await setTimeout(SETTLE_MS / 2);
const body = await get("/api/status.json");
const document = JSON.parse(body.toString()) as Document;
process.stdout.write(
  `${JSON.stringify({ devices: document.devices.length, series: document.cardinality.total, bytes: body.length })}\n`,
);
process.stdout.write(
  `${JSON.stringify({ thread: "monitor", when: "collecting, nobody asks", ...(await held()) })}\n`,
);

const packed = gzipSync(body, { level: 1 });
const bare = createServer((request, response) => {
  const gzip = request.headers["accept-encoding"] === "gzip";
  const sent = gzip ? packed : body;
  request.resume().once("end", () =>
    response
      .writeHead(200, {
        "content-type": "application/json",
        "content-length": sent.length,
        ...(gzip ? { "content-encoding": "gzip" } : {}),
      })
      .end(sent),
  );
});
await new Promise<void>((resolve) => bare.listen(0, "127.0.0.1", resolve));

const load = { path: "/api/status.json", ms: (seconds * 1_000) / ROUNDS / 2, connections: CLIENTS };
const took = {
  steward: [] as number[],
  bare: [] as number[],
  "steward, gzip": [] as number[],
  "bare, gzip": [] as number[],
};
const barePort = (bare.address() as AddressInfo).port;
const gzip = { headers: { "accept-encoding": "gzip" } };
const ways = {
  steward: { port: gateway.port },
  bare: { port: barePort },
  "steward, gzip": { port: gateway.port, ...gzip },
  "bare, gzip": { port: barePort, ...gzip },
};
const names = Object.keys(ways) as (keyof typeof ways)[];
for (const way of names) await run({ ...load, ...ways[way], ms: 500 });
await held();
for (let round = 0; round < ROUNDS; round += 1)
  for (const way of names) took[way].push(...(await run({ ...load, ...ways[way] })).tookMs);
const sizes = {
  steward: body.length,
  bare: body.length,
  "steward, gzip": packed.length,
  "bare, gzip": packed.length,
};
const p99 = Object.fromEntries(
  names.map((way) => [way, figure(way, took[way], sizes[way], load.ms * ROUNDS)]),
);
const single = await run({ ...load, port: gateway.port, connections: 1 });
figure("steward, one client", single.tookMs, body.length, load.ms);
const busy = await held();
process.stdout.write(
  `${JSON.stringify({ thread: "monitor", when: "collecting, four clients ask", ...busy })}\n`,
);

bare.close().closeAllConnections();
await client.terminate();
await gateway.stop(0);
await host.stop(5_000);
rmSync(directory, { recursive: true, force: true });
const slow = (["steward", "steward, gzip"] as const).filter((way) => (p99[way] ?? 0) > BAR_MS);
const missed = [
  ...slow.map((way) => `${way}: p99 is ${p99[way]} ms; the bar is ${BAR_MS}`),
  ...(busy.held_cpu_max_ms > HELD_BAR_MS
    ? [`the thread was held for ${busy.held_cpu_max_ms} ms of CPU; the bar is ${HELD_BAR_MS}`]
    : []),
];
for (const line of missed) process.stderr.write(`${line}\n`);
process.exit(missed.length > 0 ? 1 : 0);
