import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { runPrometheus } from "../support/otlp/prometheus.ts";
import { startReceiver, type Receiver } from "../support/otlp/receiver.ts";
import {
  listenPort,
  removeTemporaryFolders,
  rest,
  runSteward,
  scrape,
  startDaemon,
  temporaryFolder,
  type Daemon,
} from "./daemon.ts";
import { bothNetworks, startEstate, type Estate, type Section } from "./monitor-estate.ts";

afterAll(removeTemporaryFolders);

const promtool = spawnSync("promtool", ["--version"]).status === 0;
const prometheus = spawnSync("prometheus", ["--version"]).status === 0;
if (!promtool || !prometheus)
  process.stderr.write(
    "skipped: promtool or prometheus is not on this machine, so what the monitor exports was not checked by them\n",
  );

/**
 * Names that the catalogue fixes and that Prometheus' style would have otherwise; anything else it
 * says is a fault.
 */
const STYLE = [
  "svc_scrape_duration_histogram_seconds metric name should not include type 'histogram'",
  'vpn_devices_key_expiry_days use base unit "seconds" instead of "days"',
  'vpn_setting_devices_key_duration_days use base unit "seconds" instead of "days"',
];

function configuration(estate: Estate, receiver: Receiver, state: string): string {
  const house: Section = {
    gateway: { listen: "127.0.0.1:0" },
    state: { directory: state },
    services: { dedup: false, tokens: false },
    scrape: { enabled: true, listen: "127.0.0.1:0", timeout: "60s" },
    otlp: { endpoint: receiver.endpoint, metric_interval: "300ms" },
  };
  return JSON.stringify({ ...house, ...bothNetworks(estate) });
}

/**
 * Waits until every collector of both networks had a good run, and until the process knows it: the
 * monitor's thread reports its state once a second.
 */
async function collected(receiver: Receiver, daemon: Daemon): Promise<void> {
  await vi.waitFor(
    () => {
      const good = receiver
        .points()
        .filter(({ metric, value }) => metric === "svc.scrape.success" && value === 1)
        .map(
          ({ attributes }) =>
            `${String(attributes["vpn.network"])} ${String(attributes["vpn.collector"])}`,
        );
      expect(new Set(good).size).toBe(20);
    },
    { timeout: 60_000, interval: 100 },
  );
  await expect.poll(async () => (await rest(daemon, "GET", "/readyz")).status).toBe(200);
}

/** The sum of the last points of a metric that came, by attribute set, in one network. */
function lastSum(receiver: Receiver, metric: string, network: string): number {
  const last = new Map(
    receiver
      .points()
      .filter((point) => point.metric === metric && point.attributes["vpn.network"] === network)
      .map((point) => [JSON.stringify(point.attributes), point.value]),
  );
  return [...last.values()].reduce((sum, value) => sum + value, 0);
}

it.skipIf(!promtool || !prometheus)(
  "a daemon that watches two networks is pulled by a real Prometheus and pushes the same to an OTLP receiver, each network apart",
  async () => {
    await using estate = await startEstate();
    const receiver = await startReceiver({ protocol: "grpc" });
    const config = configuration(estate, receiver, temporaryFolder())
      .replace(receiver.endpoint, `127.0.0.1:${receiver.port}`)
      .replace('"otlp":{', '"otlp":{"protocol":"grpc","tls":{"insecure":true},');
    const daemon = await startDaemon({ config });
    await collected(receiver, daemon);
    const check = spawnSync("promtool", ["check", "metrics"], {
      input: await scrape(daemon),
    });
    expect(check.stderr.toString().trim().split("\n").toSorted()).toEqual(STYLE.toSorted());
    await using server = await runPrometheus(listenPort(daemon, "metrics"), ["/metrics"]);
    expect((await server.query("up == 1", 1)).map(({ value }) => value)).toEqual([1]);
    const perNetwork = await server.query(
      "sum by (vpn_network, svc_provider) (vpn_devices_count_ratio)",
      2,
    );
    const online = (network: string) =>
      server.query(`vpn_devices_count_ratio{vpn_network="${network}"}`, 1);
    expect(
      perNetwork
        .map(({ labels }) => `${labels["vpn_network"]} ${labels["svc_provider"]}`)
        .toSorted(),
    ).toEqual(["corp.test tailscale", "home headscale"]);
    // Read at two moments, between which a device may come or go.
    for (const network of ["corp.test", "home"])
      await vi.waitFor(
        async () => {
          const pulled = (await online(network)).reduce((sum, { value }) => sum + value, 0);
          expect(pulled).toBeGreaterThan(3);
          expect(lastSum(receiver, "vpn.devices.count", network)).toBe(pulled);
        },
        { timeout: 60_000, interval: 500 },
      );
    const flows = await server.query('sum(vpn_network_flows_total{vpn_network="corp.test"})', 1);
    expect(flows[0]?.value).toBeGreaterThan(0);
    const instances = new Set(
      receiver
        .points()
        .filter(({ metric }) => metric === "vpn.devices.count")
        .map(
          ({ attributes, resource }) =>
            `${String(attributes["vpn.network"])} ${String(resource["service.name"])} ${String(resource["service.instance.id"]).replace(/^.*\//, "…/")}`,
        ),
    );
    expect([...instances].toSorted()).toEqual([
      "corp.test steward …/corp.test",
      "home steward …/home",
    ]);
    expect(new Set(receiver.logs().map(({ name }) => name))).toContain("vpn.config.audit");
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
    expect(daemon.stderr.filter((line) => / error /.test(line))).toEqual([]);
    await receiver.close();
  },
);

it("windows of a log go on where they were after a restart: no flow is missing, none counts twice; a backup has the marks", async () => {
  await using estate = await startEstate({ talkers: 0 });
  const receiver = await startReceiver({ protocol: "http" });
  const state = temporaryFolder();
  const { estate: control, faults } = estate.tailscale;
  const [reporter] = control.network.devices.at(Date.now());
  let port = 1_000;
  /** Another connection, which nobody has seen before. */
  const happened = (startMs: number, loggedMs = Date.now()): void => {
    port += 1;
    const flow = {
      proto: 6,
      src: `100.64.0.9:${port}`,
      dst: "100.64.0.10:443",
      txPkts: 1,
      txBytes: 100,
      rxPkts: 1,
      rxBytes: 100,
    };
    control.flow(
      {
        logged: new Date(loggedMs).toISOString(),
        nodeId: reporter?.nodeId,
        start: new Date(startMs).toISOString(),
        end: new Date(startMs + 5_000).toISOString(),
        virtualTraffic: [flow],
      },
      { startMs, loggedMs },
    );
  };
  const windows = () =>
    estate.tailscale
      .seen()
      .filter(({ operation }) => operation === "flow_logs")
      .map(({ query }) => new URLSearchParams(query))
      .map((query) => ({
        fromMs: Date.parse(query.get("start") ?? ""),
        toMs: Date.parse(query.get("end") ?? ""),
      }));
  const counted = (): number => lastSum(receiver, "vpn.network.flows", "corp.test");
  for (let ago = 0; ago < 7; ago++) happened(Date.now() - 200_000 + ago * 20_000);
  const first = await startDaemon({ config: configuration(estate, receiver, state) });
  await vi.waitFor(() => expect(counted()).toBe(7), { timeout: 60_000, interval: 50 });
  // A window that fails is read again, and late records of an earlier one are found.
  faults.next("flow_logs", { kind: "status", status: 403 }, 1);
  happened(Date.now() - 60_000);
  await vi.waitFor(() => expect(counted()).toBe(8), { timeout: 60_000, interval: 50 });
  expect(await first.stop()).toEqual({ code: 0, signal: null });
  const target = join(temporaryFolder(), "copy");
  const copied = await runSteward(["backup", target], {
    env: { STEWARD_STATE__DIRECTORY: state },
  });
  expect(copied).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("checkpoints.mdb") as string,
  });
  expect(existsSync(join(target, "checkpoints.mdb"))).toBe(true);
  const before = windows();
  happened(Date.now() - 90_000);
  happened(Date.now() - 1_000);
  receiver.clear();
  // From the copy, as after a move to another machine.
  const second = await startDaemon({ config: configuration(estate, receiver, target) });
  await vi.waitFor(() => expect(counted()).toBe(2), { timeout: 60_000, interval: 50 });
  const seen = windows().length;
  await vi.waitFor(() => expect(windows().length).toBeGreaterThan(seen + 1), {
    timeout: 60_000,
    interval: 50,
  });
  expect(await second.stop()).toEqual({ code: 0, signal: null });
  expect(counted()).toBe(2);
  const overlapMs = 300_000;
  // The stop may have cut the last window short: it is then read again.
  expect(before.slice(-2).map(({ toMs }) => toMs - overlapMs)).toContain(
    windows()[before.length]?.fromMs,
  );
  await receiver.close();
});

it("a checkpoint file that is damaged is set aside and said so, and the monitor begins anew", async () => {
  await using estate = await startEstate();
  const receiver = await startReceiver({ protocol: "http" });
  const state = temporaryFolder();
  writeFileSync(join(state, "checkpoints.mdb"), Buffer.alloc(65_536, "no checkpoints at all "));
  const daemon = await startDaemon({ config: configuration(estate, receiver, state) });
  await collected(receiver, daemon);
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  expect(daemon.stderr.filter((line) => line.includes("it was renamed"))).toHaveLength(1);
  const files = readdirSync(state);
  expect(files).toContain("checkpoints.mdb");
  expect(
    files.filter((name) => /^checkpoints\.mdb\..+/.test(name) && !name.endsWith("-lock")).length,
    files.join(),
  ).toBeGreaterThan(0);
  await receiver.close();
});

it("what was measured last arrives although the interval is an hour, because a stop flushes", async () => {
  await using estate = await startEstate();
  const receiver = await startReceiver({ protocol: "http" });
  const config = configuration(estate, receiver, temporaryFolder()).replace('"300ms"', '"1h"');
  const daemon = await startDaemon({ config });
  await vi.waitFor(async () => expect((await rest(daemon, "GET", "/readyz")).status).toBe(200), {
    timeout: 60_000,
    interval: 50,
  });
  // A stop flushes for 5 s at most: by now what exports is up, and both networks have asked.
  await vi.waitFor(
    async () => {
      const text = await scrape(daemon);
      for (const network of ["corp.test", "home"])
        expect(text).toMatch(
          new RegExp(`^svc_api_requests_total\\{.*vpn_network="${network}"`, "m"),
        );
    },
    { timeout: 60_000, interval: 300 },
  );
  expect(receiver.points().filter(({ metric }) => metric.startsWith("vpn."))).toEqual([]);
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  expect(
    new Set(
      receiver
        .points()
        .filter(({ metric }) => metric === "svc.api.requests")
        .map(({ attributes }) => attributes["vpn.network"]),
    ),
  ).toEqual(new Set(["corp.test", "home"]));
  await receiver.close();
});
