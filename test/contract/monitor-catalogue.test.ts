import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { dedupMetrics } from "../../src/dedup/telemetry/metrics.ts";
import { familyName } from "../../src/kernel/telemetry/exposition/naming.ts";
import { processMetricRows } from "../../src/kernel/telemetry/report/service-metrics.ts";
import type { AnyRow } from "../../src/kernel/telemetry/types.ts";
import { monitorMetrics, monitorRecords } from "../../src/monitor/catalogue/monitor-catalogue.ts";
import { makePair } from "../kernel/listen/test-certificates.ts";
import { startReceiver, type Receiver } from "../support/otlp/receiver.ts";
import { smallArchive, writeFiles } from "./corpus.ts";
import { removeTemporaryFolders, runJob, scrape, startDaemon, temporaryFolder } from "./daemon.ts";
import {
  bothNetworks,
  objectStores,
  startEstate,
  type Estate,
  type Section,
} from "./monitor-estate.ts";
import { arrangeOddities } from "./monitor-oddities.ts";

afterAll(removeTemporaryFolders);

const rows: ReadonlyMap<string, AnyRow> = new Map(
  [...processMetricRows, ...dedupMetrics, ...monitorMetrics].map((row) => [row.name, row]),
);

/**
 * What no daemon of this test says, and why. Everything else of the catalogue is seen, and a row
 * that comes to be seen must leave this list.
 */
const ABSENT: Readonly<Record<string, readonly string[]>> = {
  "Node has no such figure (RESOLUTIONS M33)": [
    "svc.runtime.memory.heap_objects",
    "svc.runtime.memory.stack_inuse",
    "svc.runtime.gc.next_target",
  ],
  "receivers, shown in test/contract/streaming and test/contract/webhook": names(
    "vpn.stream.",
    "vpn.webhook.",
  ),
  "the ingress log, shown in test/contract/ingress-log.test.ts": names("svc.ingress_wal."),
  "reverse DNS, shown in test/contract/reverse-dns.test.ts": names("vpn.rdns."),
  "places of addresses, shown in test/contract/geoip.test.ts": [
    ...names("vpn.geoip."),
    "vpn.devices.by_country",
  ],
  "a flow older than the store keeps, shown in test/contract/flows.test.ts": [
    "vpn.network.store.dropped",
  ],
  "a minute after an object could not be read, shown in test/monitor/objectstore": [
    "svc.objectstore.retries",
  ],
  "AI and Paperless-ngx, shown in test/contract/dedup-telemetry": names(
    "svc.ai.",
    "svc.paperless.",
    "paperless_",
  ),
  "a disk that fails, shown in test/monitor/runner": ["svc.checkpoint.persist.errors"],
  "replicas, shown in test/contract/coordination.test.ts": names("svc.coordination."),
  "a night, shown in test/contract/watched-metrics.test.ts": ["svc.backup.last_success"],
};

function names(...prefixes: readonly string[]): string[] {
  return [...rows.keys()].filter((name) => prefixes.some((prefix) => name.startsWith(prefix)));
}

/** What every series of a network may have beside the attributes of its row. */
const CONSTANTS = new Set(["vpn.network", "svc.provider"]);
/** Metrics of agents keep their own names and labels. */
const forwarded = (name: string): boolean => name.startsWith("tailscaled_");

function polling(estate: Estate, receiver: Receiver): Section {
  const archive = temporaryFolder();
  writeFiles(archive, smallArchive);
  const { networks, ...rest } = bothNetworks(estate);
  const [first = {}, second = {}] = networks as Section[];
  return {
    ...house(receiver),
    ...rest,
    networks: [
      { ...first, http: { retry: { base_delay: "10ms", max_delay: "20ms" } } },
      { ...second, http: { rate_limit: 5 } },
    ],
    services: { tokens: false },
    dedup: { archives: [{ name: "papers", kind: "folder", path: archive }] },
    annotations: {
      url: estate.dashboard.url,
      token: "dashboard-secret",
      queue_size: 1,
      categories: { config_change: { rollup: false }, expiry: { rollup: false } },
    },
  };
}

/** What tells of releases and takes profiles, every other one. */
async function startOutside(): Promise<AsyncDisposable & { readonly url: string }> {
  let profiles = 0;
  const server = createServer((request, response) => {
    if (request.url?.startsWith("/ingest") === true)
      response.statusCode = (profiles += 1) % 2 === 0 ? 200 : 500;
    else response.setHeader("content-type", "application/json");
    request.resume().once("end", () => response.end('{"tag_name": "v99.0.0"}'));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * The other half of what excludes each other: records from a bucket, rollups, TLS, limits that are
 * met; and what a house may do beside.
 */
function feeding(estate: Estate, receiver: Receiver, outside: string): Section {
  const { networks, collectors, version_checks, vpn } = bothNetworks(estate);
  const [first = {}] = networks as Section[];
  const folder = temporaryFolder();
  const { cert, key } = makePair("a");
  writeFileSync(join(folder, "cert.pem"), cert);
  writeFileSync(join(folder, "key.pem"), key, { mode: 0o600 });
  const { flowlogs, auditlogs, node_metrics, ...others } = collectors as Record<string, Section>;
  return {
    ...house(receiver),
    scrape: {
      enabled: true,
      listen: "127.0.0.1:0",
      tls: { cert_file: join(folder, "cert.pem"), key_file: join(folder, "key.pem") },
    },
    vpn,
    version_checks: { ...(version_checks as Section), self: { url: `${outside}/latest` } },
    admin: { auth: { token: "administrator-0123456789" } },
    profiling: { profiler: { enabled: true, server_address: outside, upload_rate: "1s" } },
    services: { dedup: false, tokens: false },
    networks: [{ ...first, objectstore: objectStores(estate) }],
    collectors: {
      ...others,
      node_metrics: { ...node_metrics, max_distinct_metrics: 2 },
      k8s_audit: { enabled: true },
      flowlogs: { ...flowlogs, source: "objectstore", max_log_records_per_window: 1 },
      auditlogs: { ...auditlogs, source: "objectstore" },
    },
  };
}

function house(receiver: Receiver): Section {
  // Far from now: a backup would tell of itself.
  const hour = (new Date().getHours() + 12) % 24;
  return {
    gateway: { listen: "127.0.0.1:0" },
    state: {
      directory: temporaryFolder(),
      backup: { at: `${String(hour).padStart(2, "0")}:00` },
    },
    scrape: { enabled: true, listen: "127.0.0.1:0", timeout: "60s" },
    otlp: {
      endpoint: receiver.endpoint,
      metric_interval: "500ms",
      retry: { max_elapsed_time: "1s" },
    },
  };
}

/** One attribute set of each series that came, by its metric. */
function seriesOf(receiver: Receiver): Map<string, Set<string>> {
  const seen = new Map<string, Set<string>>();
  for (const { metric, attributes } of receiver.points()) {
    const sets = seen.get(metric) ?? new Set();
    sets.add(Object.keys(attributes).toSorted().join(" "));
    seen.set(metric, sets);
  }
  return seen;
}

it("with everything on, what is emitted is the catalogue: no other metric, none missing beyond a list with reasons, no attribute that its row has not", async () => {
  await using estate = await startEstate();
  arrangeOddities(estate);
  await using outside = await startOutside();
  const receiver = await startReceiver({ protocol: "http" });
  receiver.answer = { kind: "refuse", grpc: 14, http: 400 };
  estate.tailscale.faults.next("users", { kind: "status", status: 500 }, 12);
  const [first, second] = await Promise.all([
    startDaemon({ config: JSON.stringify(polling(estate, receiver)) }),
    startDaemon({ config: JSON.stringify(feeding(estate, receiver, outside.url)) }),
  ]);
  expect((await fetch(`${second.url}/api/status.json`)).status).toBe(401);
  await runJob(first, "/api/v1/sync");
  await vi.waitFor(() => expect(receiver.refused).toBeGreaterThan(6), {
    timeout: 60_000,
    interval: 50,
  });
  receiver.answer = { kind: "accept" };
  const absent = Object.values(ABSENT).flat().toSorted();
  const missing = (): string[] =>
    [...rows.keys()]
      // There after a minute, at which a busy machine may be still here.
      .filter(
        (name) =>
          name === "svc.objectstore.retries" ||
          !receiver.points().some(({ metric }) => metric === name),
      )
      .toSorted();
  await vi
    .waitFor(
      async () => {
        await scrape(first);
        expect(missing()).toEqual(absent);
      },
      { timeout: 150_000, interval: 500 },
    )
    .catch(() => undefined);
  const exposition = await scrape(first);
  await Promise.all([first.stop(), second.stop()]);
  expect(missing()).toEqual(absent);
  const seen = seriesOf(receiver);
  expect([...seen.keys()].filter((name) => !rows.has(name) && !forwarded(name))).toEqual([]);
  const strange = [...seen].flatMap(([name, sets]) => {
    const known = new Set<string>(rows.get(name)?.attributes ?? []);
    return forwarded(name)
      ? []
      : [...sets].flatMap((set) =>
          set
            .split(" ")
            .filter(
              (attribute) => attribute !== "" && !known.has(attribute) && !CONSTANTS.has(attribute),
            )
            .map((attribute) => `${name} ${attribute}`),
        );
  });
  expect(strange).toEqual([]);
  // The same rows by the names of the exposition.
  const families = new Set([...rows.values()].map((row) => familyName(row)));
  expect(
    [...exposition.matchAll(/^# TYPE (\S+)/gm)]
      .map(([, name = ""]) => name)
      .filter((name) => !families.has(name) && !forwarded(name) && name !== "target_info"),
  ).toEqual([]);
  expect(
    [...new Set(receiver.logs().map(({ name }) => name))].filter(
      (name) => name !== "" && !monitorRecords.some((row) => row.name === name),
    ),
  ).toEqual([]);
  await receiver.close();
});
