import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { systemClock } from "../../src/kernel/base/clock.ts";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { createLog } from "../../src/kernel/base/log.ts";
import { createTelemetry } from "../../src/kernel/telemetry/telemetry.ts";
import type { Telemetry } from "../../src/kernel/telemetry/telemetry.ts";
import { createServiceHost } from "../../src/kernel/threads/host/service-host.ts";
import type { Placement } from "../../src/kernel/threads/hosted-service.ts";
import type { MonitorOptions, NetworkOptions } from "../../src/monitor/options.ts";
import { startReceiver } from "../support/otlp/receiver.ts";
import { deviceDefaults, networkOptions } from "./collectors/harness.ts";
import { plainMonitorModule } from "./fixtures/module.ts";

const HOUR_MS = 3_600_000;
const never = new AbortController().signal;
const log = createLog({ level: "error", format: "json", write: () => {}, now: () => 0 });
const everything = {
  emails: true,
  user_display_names: true,
  user_ids: true,
  hostnames: true,
  node_ids: true,
  vpn_ips: true,
  internal_ips: true,
  external_ips: true,
  service_addrs: true,
  endpoint_paths: true,
  network_topology: true,
  network_name: true,
  free_text_details: true,
  command_text: true,
};

/** A control plane of plain HTTP. */
async function startControlPlane(name: string) {
  const plane = { devices: ["a", "b"], asked: 0, broken: false };
  const server = createServer((request, response) => {
    const devices = request.url === "/devices";
    if (devices) plane.asked += 1;
    response.writeHead(devices && plane.broken ? 500 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(devices ? plane.devices : name));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => server.close().closeAllConnections());
  return { plane, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

// What a collector wrote ends after five intervals without a run: on a busy machine a second is not
// enough.
function network(name: string, url: string, intervalMs = 1_000): NetworkOptions {
  const options = networkOptions();
  return {
    ...options,
    name,
    provider: { ...options.provider, url },
    collectors: { devices: { ...deviceDefaults, intervalMs, collectDeviceInvites: false } },
  };
}

function monitorOptions(networks: readonly NetworkOptions[]): MonitorOptions {
  const directory = mkdtempSync(join(tmpdir(), "steward-monitor-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return {
    version: "1.0.0",
    networks,
    several: networks.length > 1,
    privacy: everything,
    resource: { "service.name": "steward", "service.instance.id": "here" },
    logs: undefined,
    metricIntervalMs: 60_000,
    checkpoint: {
      store: "file",
      filePath: join(directory, "checkpoints.mdb"),
      isDefault: true,
      evidenceStore: "file",
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
    configWarnings: 3,
  };
}

async function startTelemetry() {
  const receiver = await startReceiver({ protocol: "http" });
  onTestFinished(() => receiver.close());
  // So long an interval that only what is flushed arrives.
  const telemetry = createTelemetry(
    { clock: systemClock, log },
    {
      pull: false,
      metrics: {
        protocol: "http",
        endpoint: receiver.endpoint,
        intervalMs: 3_600_000,
        timeoutMs: 30_000,
      },
    },
  );
  telemetry.scope({ name: "process", resource: { "service.name": "steward" }, constants: {} });
  await telemetry.component.start(never, () => undefined);
  // The thread is up: what a collector wrote ends after five intervals, its start may take longer.
  await telemetry.flush(60_000);
  onTestFinished(() => telemetry.component.stop(5_000));
  return { receiver, telemetry };
}

function index(
  on: Placement,
  telemetry: Telemetry,
  options: MonitorOptions,
  write: (line: string) => void = () => undefined,
) {
  const ports = () => {
    const port = telemetry.port();
    return port === undefined ? {} : { telemetry: port };
  };
  const host = createServiceHost(
    {
      clock: systemClock,
      ids: systemIds,
      log: createLog({ level: "warn", format: "json", write, now: () => 0 }),
      ports,
      drained: (deadlineMs) => telemetry.flush(deadlineMs),
    },
    plainMonitorModule,
    { on, options, readiness: "reported" },
  );
  onTestFinished(() => host.stop(5_000));
  return host;
}

describe.each<Placement>(["main", "thread"])("the monitor placed on %s", (on) => {
  it("collects, is ready after the first good run, and sends what its last run said when it stops", async () => {
    const { plane, url } = await startControlPlane("told.test");
    const { receiver, telemetry } = await startTelemetry();
    plane.broken = true;
    const host = index(on, telemetry, monitorOptions([network("-", url)]));
    await host.start(never, () => undefined);
    await vi.waitFor(
      () =>
        expect(host.states().find(({ name }) => name === "first-run")).toMatchObject({
          phase: "degraded",
          reason: "starting: waiting for first run: devices",
        }),
      { timeout: 60_000 },
    );
    plane.broken = false;
    await vi.waitFor(
      () => expect(host.states().find(({ name }) => name === "first-run")?.phase).toBe("ready"),
      { timeout: 60_000, interval: 20 },
    );
    plane.devices = ["a", "b", "c"];
    const { asked } = plane;
    // The run that asks secondly began after the change.
    await vi.waitFor(() => expect(plane.asked).toBeGreaterThan(asked + 3), {
      timeout: 60_000,
      interval: 10,
    });
    expect(receiver.points()).toEqual([]);
    await host.stop(30_000);
    const points = receiver.points();
    const count = points.filter(({ metric }) => metric === "vpn.devices.count");
    expect(
      count.map((point) => [
        point.value,
        point.attributes["vpn.network"],
        point.attributes["svc.provider"],
      ]),
    ).toEqual([[3, "told.test", "headscale"]]);
    const requests = points.filter(
      ({ metric, attributes }) =>
        metric === "svc.api.requests" &&
        attributes["endpoint"] === "devices" &&
        attributes["http.response.status_code"] === 200,
    );
    expect(requests).toHaveLength(1);
    expect(requests[0]?.value).toBeGreaterThan(3);
    const shown = (metric: string) =>
      points.filter((point) => point.metric === metric).map(({ value }) => value);
    expect([
      shown("svc.config.valid"),
      shown("svc.config.warnings"),
      shown("svc.checkpoint.disk.size").length,
      shown("svc.enrich.cache_age").length,
    ]).toEqual([[1], [3], 1, 1]);
    expect(
      points
        .filter((point) => point.metric === "svc.capability.status" && point.value === 1)
        .map(({ attributes }) => attributes["vpn.api.state"]),
    ).toEqual(["supported"]);
  });

  it("goes on for one network while another is dead, each with its own name and instance", async () => {
    const alive = await startControlPlane("x");
    const dead = await startControlPlane("y");
    dead.plane.broken = true;
    const { receiver, telemetry } = await startTelemetry();
    const lines: string[] = [];
    // One run each: no later one can be overdue when the last values are taken.
    const host = index(
      on,
      telemetry,
      monitorOptions([network("east", alive.url, HOUR_MS), network("west", dead.url, HOUR_MS)]),
      (line) => void lines.push(line),
    );
    await host.start(never, () => undefined);
    await vi.waitFor(
      () => expect(host.states().find(({ name }) => name === "first-run")?.phase).toBe("ready"),
      { timeout: 60_000, interval: 20 },
    );
    await expect.poll(() => lines.join("\n")).toContain("collector failed");
    await host.stop(30_000);
    const count = receiver.points().filter(({ metric }) => metric === "vpn.devices.count");
    expect(
      count.map((point) => [
        point.attributes["vpn.network"],
        point.resource["service.instance.id"],
      ]),
    ).toEqual([["east", "here/east"]]);
    expect(
      receiver
        .points()
        .filter(({ metric }) => metric === "svc.scrape.success")
        .map(({ attributes, value }) => `${String(attributes["vpn.network"])} ${value}`)
        .toSorted(),
    ).toEqual(["east 1", "west 0"]);
  });
});
