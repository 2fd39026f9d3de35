import { afterAll, expect, it, vi } from "vitest";
import type { ReceivedSpan } from "../support/otlp/decode.ts";
import { startReceiver } from "../support/otlp/receiver.ts";
import { parseExposition } from "../kernel/telemetry/exposition-parser.ts";
import {
  removeTemporaryFolders,
  scrape,
  startDaemon,
  temporaryFolder,
  type Daemon,
} from "./daemon.ts";
import { bothNetworks, startEstate, type Section } from "./monitor-estate.ts";

afterAll(removeTemporaryFolders);

type Samples = ReturnType<typeof parseExposition>["samples"];

async function pulled(daemon: Daemon): Promise<Samples> {
  return parseExposition(await scrape(daemon)).samples;
}

const own = (): Section => ({
  gateway: { listen: "127.0.0.1:0" },
  state: { directory: temporaryFolder() },
  services: { dedup: false, tokens: false },
  scrape: { enabled: true, listen: "127.0.0.1:0", timeout: "60s" },
});
const of = (
  samples: Samples,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Samples =>
  samples.filter(
    (sample) =>
      sample.name === name &&
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  );

it("each live metric of each network has its row of series, and one at its limit says so", async () => {
  await using estate = await startEstate();
  const { cardinality, ...others } = bothNetworks(estate);
  const daemon = await startDaemon({
    config: JSON.stringify({
      ...own(),
      ...others,
      cardinality: { ...(cardinality as Section), metric_limit: 10 },
    }),
  });
  const counted = new Map<string, number>();
  let samples: Samples = [];
  await vi.waitFor(
    async () => {
      samples = await pulled(daemon);
      expect(
        of(samples, "svc_series_overflowing_ratio", {
          metric_name: "vpn.device.online",
          vpn_network: "corp.test",
        })[0]?.value,
      ).toBe(1);
      expect(
        of(samples, "svc_series_active", { metric_name: "vpn.devices.count", vpn_network: "home" }),
      ).toHaveLength(1);
      expect(of(samples, "svc_series_active").length).toBeGreaterThan(150);
      // The monitor's thread has series of no network, which stand beside those of the process.
      for (const name of ["svc.config.valid", "svc.build_info"])
        expect(
          of(samples, "svc_series_active", { metric_name: name }).map(({ value }) => value),
        ).toEqual([1]);
    },
    { timeout: 60_000, interval: 200 },
  );
  for (const { labels, value } of of(samples, "svc_series_active"))
    counted.set(`${labels["vpn_network"] ?? ""} ${labels["metric_name"]}`, value);
  for (const network of ["corp.test", "home"]) {
    const online = of(samples, "vpn_device_online_ratio", { vpn_network: network }).length;
    expect([network, online, counted.get(`${network} vpn.device.online`)]).toEqual([
      network,
      10,
      10,
    ]);
    expect(of(samples, "svc_series_limit", { vpn_network: network })[0]?.value).toBe(10);
    const sum = (name: string): number =>
      of(samples, name, { vpn_network: network }).reduce((total, { value }) => total + value, 0);
    expect([network, sum("svc_series_by_group")]).toEqual([network, sum("svc_series_active")]);
  }
  const ownGroup = of(samples, "svc_series_by_group", {
    metric_group: "Self-observability",
  }).filter(({ labels }) => labels["vpn_network"] === undefined);
  expect(ownGroup).toHaveLength(1);
  const names = of(samples, "svc_series_active").map(({ labels }) => JSON.stringify(labels));
  expect(new Set(names).size).toBe(names.length);
  expect(of(samples, "svc_metrics_gather_errors_total")[0]?.value ?? 0).toBe(0);
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
});

it("log records that the monitor's thread had to drop are counted", async () => {
  await using estate = await startEstate();
  const receiver = await startReceiver({ protocol: "http" });
  const release = Promise.withResolvers<void>();
  receiver.answer = { kind: "hold", until: release.promise };
  const config = {
    ...own(),
    ...bothNetworks(estate),
    otlp: {
      endpoint: receiver.endpoint,
      metric_interval: "300ms",
      batch: { logs: { max_queue_size: 8, export_max_batch_size: 4 } },
    },
  };
  const daemon = await startDaemon({ config: JSON.stringify(config) });
  const dropped = async (): Promise<number> =>
    of(await pulled(daemon), "svc_processor_dropped_total", {
      signal: "logs",
      reason: "queue_full",
    })[0]?.value ?? 0;
  const capacity = async (): Promise<number> =>
    of(await pulled(daemon), "svc_processor_queue_capacity_ratio", { signal: "logs" })[0]?.value ??
    0;
  // The history of the audit log alone is more than two queues of eight hold.
  await vi.waitFor(async () => expect(await dropped()).toBeGreaterThan(50), {
    timeout: 60_000,
    interval: 100,
  });
  // The main thread's, the monitor's, and the exporter's.
  expect(await capacity()).toBe(24);
  release.resolve();
  receiver.answer = { kind: "accept" };
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  await receiver.close();
});

it("flows of the first window after a start have the names of the devices, although the control plane is slow to tell those", async () => {
  await using estate = await startEstate();
  const { faults } = estate.tailscale;
  faults.next("devices", { kind: "status", status: 503 }, 1);
  faults.next("devices", { kind: "delay", ms: 3_500 }, 1);
  const { networks, collectors, ...others } = bothNetworks(estate);
  const [hosted = {}] = networks as Section[];
  const daemon = await startDaemon({
    config: JSON.stringify({
      ...own(),
      ...others,
      networks: [{ ...hosted, http: { retry: { max_attempts: 1 } } }],
      collectors,
    }),
  });
  const samples: Samples[] = [];
  await vi.waitFor(
    async () => {
      samples.push(await pulled(daemon));
      expect(of(samples.at(-1) ?? [], "vpn_network_io_bytes_total").length).toBeGreaterThan(10);
    },
    { timeout: 60_000, interval: 100 },
  );
  const named = new Set(
    samples.flat().flatMap(({ labels }) => [labels["vpn_src_node"], labels["vpn_dst_node"]]),
  );
  expect(named.size).toBeGreaterThan(5);
  // A runner lives for minutes: one that left between its flows and the list of devices has no
  // name.
  const unnamed = [...named].filter(
    (node) => node?.startsWith("unverified:") === true || node?.endsWith("CNTRL") === true,
  );
  expect(unnamed.filter((node) => node?.startsWith("unverified:runner-") !== true)).toEqual([]);
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
});

it("each run of a collector is a trace, with a span below it for each call, and what was logged meanwhile belongs to it", async () => {
  await using estate = await startEstate();
  const receiver = await startReceiver({ protocol: "http" });
  estate.tailscale.faults.next("users", { kind: "status", status: 503 }, 10);
  const { networks, ...others } = bothNetworks(estate);
  const [hosted = {}, own2 = {}] = networks as Section[];
  const config = {
    ...own(),
    ...others,
    networks: [{ ...hosted, http: { retry: { max_attempts: 2, base_delay: "10ms" } } }, own2],
    tracing: { enabled: true },
    otlp: {
      endpoint: receiver.endpoint,
      metric_interval: "1s",
      batch: { logs: { export_interval: "100ms" }, traces: { export_interval: "100ms" } },
    },
  };
  const daemon = await startDaemon({ config: JSON.stringify(config) });
  const found = (
    name: string,
    attributes: Readonly<Record<string, unknown>> = {},
  ): ReceivedSpan[] =>
    receiver
      .spans()
      .filter(
        (span) =>
          span.name === name &&
          Object.entries(attributes).every(([key, value]) => span.attributes[key] === value),
      );
  const hostedSpans = { "vpn.network": "corp.test" };
  // On a busy machine a run may run out of time.
  const succeeded = (name: string): ReceivedSpan | undefined =>
    found(name, hostedSpans).find(({ status }) => status === 0);
  await vi.waitFor(
    () => {
      for (const name of ["scrape users", "scrape keys", "tailscale.api devices"])
        expect(found(name).length, name).toBeGreaterThan(0);
      expect(succeeded("scrape devices")).toBeDefined();
      expect(
        receiver
          .spans()
          .some(
            ({ name, attributes }) =>
              name.startsWith("headscale.api ") && attributes["svc.provider"] === "headscale",
          ),
      ).toBe(true);
      expect(
        receiver
          .logs()
          .some(
            ({ body, attributes }) => body === "collector failed" && attributes["name"] === "users",
          ),
      ).toBe(true);
      expect(receiver.logs().some(({ name }) => name === "vpn.key.expiring")).toBe(true);
    },
    { timeout: 60_000, interval: 200 },
  );
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  const devices = succeeded("scrape devices");
  expect(devices).toMatchObject({
    kind: 1,
    parentSpanId: "",
    status: 0,
    attributes: { ...hostedSpans, "svc.provider": "tailscale", "vpn.collector": "devices" },
    resource: { "service.name": "steward" },
  });
  const call = found("tailscale.api devices").find(({ traceId }) => traceId === devices?.traceId);
  expect(call).toMatchObject({
    kind: 3,
    parentSpanId: devices?.spanId,
    status: 0,
    attributes: { ...hostedSpans, endpoint: "devices", "http.response.status_code": 200 },
  });
  expect(call?.startMs).toBeGreaterThanOrEqual((devices?.startMs ?? 0) - 1);
  expect(call?.endMs).toBeLessThanOrEqual((devices?.endMs ?? 0) + 1);
  const [users] = found("scrape users", hostedSpans);
  expect(users).toMatchObject({
    status: 2,
    attributes: { "error.type": expect.any(String) as string },
  });
  expect(
    found("tailscale.api users").find(({ traceId }) => traceId === users?.traceId),
  ).toMatchObject({
    status: 2,
    attributes: { "http.response.status_code": 503, "http.request.resend_count": 1 },
  });
  const line = receiver
    .logs()
    .find(({ body, attributes }) => body === "collector failed" && attributes["name"] === "users");
  expect(line).toMatchObject({ traceId: users?.traceId, spanId: users?.spanId });
  const keys = new Set(found("scrape keys").map(({ traceId }) => traceId));
  expect(
    receiver
      .logs()
      .filter(({ name }) => name === "vpn.key.expiring")
      .every(({ traceId }) => keys.has(traceId)),
  ).toBe(true);
  await receiver.close();
});

it("a run that hangs makes its collector stale and no success, before it is given up", async () => {
  await using estate = await startEstate();
  const { networks, ...others } = bothNetworks(estate);
  const [hosted = {}] = networks as Section[];
  const daemon = await startDaemon({
    config: JSON.stringify({
      ...own(),
      ...others,
      networks: [{ ...hosted, http: { timeout: "10m" } }],
      collectors: { users: { interval: "1s" } },
    }),
  });
  const users = async (name: string): Promise<number | undefined> =>
    of(await pulled(daemon), name, { vpn_collector: "users" })[0]?.value;
  await vi.waitFor(async () => expect(await users("svc_scrape_success_ratio")).toBe(1), {
    timeout: 60_000,
    interval: 100,
  });
  estate.tailscale.faults.next("users", { kind: "hang" }, 10);
  let stale = 0;
  await vi.waitFor(
    async () => {
      // Of one pull: a run that was only late may end between two.
      const samples = await pulled(daemon);
      const [success, staleness] = ["svc_scrape_success_ratio", "svc_scrape_staleness_seconds"].map(
        (name) => of(samples, name, { vpn_collector: "users" })[0]?.value,
      );
      expect(success).toBe(0);
      stale = staleness ?? 0;
    },
    { timeout: 60_000, interval: 100 },
  );
  expect(stale).toBeGreaterThan(1.9);
  await vi.waitFor(
    async () => expect(await users("svc_scrape_staleness_seconds")).toBeGreaterThan(stale + 1),
    { timeout: 60_000, interval: 100 },
  );
  expect(await users("svc_scrape_errors_total")).toBeUndefined();
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
});
