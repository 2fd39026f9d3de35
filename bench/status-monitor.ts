/**
 * The monitor of bench/status.ts: a control plane of plain values that is asked again and again,
 * and a probe of how long the thread was held.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Access } from "../src/gen/steward/options/v1/options_pb.ts";
import type { PlainRoute, Service } from "../src/kernel/service.ts";
import type { CreateHostedService } from "../src/kernel/threads/hosted-service.ts";
import type { Device } from "../src/monitor/providers/model.ts";
import type { Provider } from "../src/monitor/providers/provider.ts";
import { unsupportedCalls } from "../src/monitor/providers/unsupported.ts";
import { createMonitorWith } from "../src/monitor/service.ts";
import type { BenchOptions } from "./status-module.ts";

const NS_PER_MS = 1e6;

function deviceOf(index: number): Device {
  const id = `n${String(index).padStart(6, "0")}`;
  return {
    id,
    nodeId: id,
    name: `device-${id}.example.ts.net`,
    hostname: `device-${id}`,
    os: ["linux", "macOS", "windows"][index % 3] ?? "",
    user: `person${index % 500}@example.com`,
    clientVersion: `1.${80 + (index % 9)}.2`,
    addresses: [
      `100.${64 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`,
      `fd7a:115c:a1e0::${index.toString(16)}`,
    ],
    tags: index % 4 === 0 ? ["tag:server", "tag:prod"] : [],
    external: index % 50 === 0,
    authorized: true,
    online: index % 3 > 0,
    createdMs: 1_700_000_000_000,
    lastSeenMs: Date.now(),
    expiresMs: Date.now() + 90 * 86_400_000,
    keyExpiryDisabled: false,
    updateAvailable: index % 7 === 0,
    multipleConnections: false,
    blocksIncomingConnections: false,
    sshEnabled: index % 2 === 0,
    ephemeral: false,
    distro: { name: "debian", codeName: "trixie", version: "13" },
    postureIdentityDisabled: false,
    connectivity: {
      latency: [{ region: "fra", preferred: true, seconds: 0.02 }],
      hardNat: false,
      endpoints: ["203.0.113.9:41641"],
      supports: { udp: true, ipv6: true, pcp: false, pmp: false, upnp: false },
    },
    advertisedRoutes: [],
    enabledRoutes: [],
    lockError: "",
  };
}

/** Answers devices, a new list each time; everything else is refused. */
function planeOf(count: number): Provider {
  return {
    kind: "tailscale",
    granted: { method: "apikey", scopes: undefined },
    supports: (call) => call === "devices",
    ...unsupportedCalls("the bench"),
    devices: async () => {
      const devices: Device[] = [];
      for (let index = 0; index < count; index += 1) {
        if (index % 500 === 0) await new Promise<void>((resolve) => setImmediate(resolve));
        devices.push(deviceOf(index));
      }
      return devices;
    },
    networkName: () => Promise.resolve("bench"),
    status: () => [],
    close: () => Promise.resolve(),
  };
}

/**
 * How long the thread was held since the last question, in milliseconds: by the clock, which counts
 * what other processes take, and by its own CPU time between two turns of the event loop, which
 * does not.
 */
function probe(): PlainRoute {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  const cpuMs = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let last = cpuMs();
  let longest = 0;
  setInterval(() => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1).unref();
  return {
    verb: "GET",
    template: "/bench/held",
    access: Access.PUBLIC,
    dialect: "monitor",
    handle: () => {
      const body = JSON.stringify({
        held_max_ms: Math.round(delays.max / NS_PER_MS),
        held_p99_ms: Math.round(delays.percentile(99) / NS_PER_MS),
        held_cpu_max_ms: Math.round(longest),
      });
      delays.reset();
      longest = 0;
      return Promise.resolve({
        status: 200,
        headers: { "content-type": "application/json" },
        body,
      });
    },
  };
}

/** Makes it. */
export const createBenchMonitor: CreateHostedService<BenchOptions> = async (
  context,
  { monitor, devices },
): Promise<Service> => {
  const service = await createMonitorWith(context, monitor, () => planeOf(devices));
  return { ...service, plain: [probe()] };
};
