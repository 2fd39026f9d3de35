/** Places the monitor in the house: its configuration, its thread, and what of it decides over readiness. */
import { systemClock } from "../kernel/base/clock.ts";
import { systemIds } from "../kernel/base/ids.ts";
import type { RootLog } from "../kernel/base/log.ts";
import type { Environment } from "../kernel/config/key.ts";
import type { Component } from "../kernel/supervisor/component.ts";
import type { Telemetry } from "../kernel/telemetry/telemetry.ts";
import type { HostDeps } from "../kernel/threads/host-spec.ts";
import { placeService } from "../kernel/threads/place.ts";
import type { Placement, ThreadHost } from "../kernel/threads/placed.ts";
import { monitorOptions } from "../monitor/config/monitor-options.ts";
import { FIRST_RUN } from "../monitor/first-run.ts";
import { monitorModule } from "../monitor/module.ts";
import type { MonitorOptions, NetworkOptions } from "../monitor/options.ts";
import type { DaemonConfiguration } from "./configuration.ts";
import { stewardVersion } from "./version.ts";

/** What the configuration says of the monitor. A demo collects its simulated network, none of the configured ones, and asks nobody for versions. */
export function monitorOptionsOf({ config, demo, stateDirectory, warnings }: DaemonConfiguration, environment: Environment, demoNetwork?: NetworkOptions): MonitorOptions {
  const options = monitorOptions(config, { version: stewardVersion(), stateDirectory, environment, warnings: warnings.length });
  if (!demo.demo) return options;
  return { ...options, networks: demoNetwork === undefined ? [] : [demoNetwork], several: false, versionChecks: { ...options.versionChecks, devices: false } };
}

/** Of the monitor's thread: 100,000 series of several networks take a quarter of it. */
const HEAP_MB = 512;
/** What was measured last may take so long to be sent. */
const FLUSH_MS = 5_000;

/** What it is placed with. */
export interface MonitorPlace {
  readonly options: MonitorOptions;
  readonly telemetry: Pick<Telemetry, "port" | "flush" | "component">;
  readonly log: RootLog;
  /** Telemetry among them. */
  readonly needs: readonly string[];
  /** A thread of its own unless said otherwise. */
  readonly on?: Placement;
}

/** The placed monitor. */
export interface PlacedMonitor {
  readonly component: ThreadHost;
  /** Takes the place of telemetry's component: whenever that starts anew, the monitor gets a new port to it. */
  readonly telemetry: Component;
  /** Whether it holds the process's readiness back, and the line that says why (RESOLUTIONS M4, M6). */
  ready(): { readonly ok: boolean; readonly reasons: readonly string[] };
}

/** The monitor in its place, or nothing when no credential is configured: then it is idle, and no thread is started (RESOLUTIONS M28). */
export function placeMonitor({ options, telemetry, log, needs, on = "thread" }: MonitorPlace): PlacedMonitor | undefined {
  if (options.networks.length === 0) {
    log.child("monitor").info("the monitor is idle: no credential of a control plane is configured", { remedy: "set vpn.auth, or headscale.url and headscale.api_key; services.monitor=false switches it off" });
    return undefined;
  }
  const deps: HostDeps = { clock: systemClock, ids: systemIds, log, ports: () => portsOf(telemetry), drained: (deadlineMs) => telemetry.flush(Math.min(deadlineMs, FLUSH_MS)) };
  const host = placeService(deps, monitorModule, { on, options, needs, readiness: "reported", heapMb: HEAP_MB, variables: ambientVariables(options) });
  const { component } = telemetry;
  return {
    component: host, ready: readiness(host),
    telemetry: {
      ...component,
      async start(signal, failed) {
        await component.start(signal, failed);
        host.renewPorts();
      },
    },
  };
}

/** Buckets without credentials of their own are read with those of the machine, which the store's library finds in these variables. */
function ambientVariables({ networks }: MonitorOptions): readonly string[] {
  const feeds = networks.flatMap(({ collectors: { flowlogs, auditlogs, k8sAudit } }) => [flowlogs?.objectStore, auditlogs?.objectStore, k8sAudit?.objectStore]);
  return feeds.some((feed) => feed !== undefined && feed.credentials === undefined) ? ["AWS_"] : [];
}

function portsOf(telemetry: Pick<Telemetry, "port">): ReturnType<NonNullable<HostDeps["ports"]>> {
  const port = telemetry.port();
  return port === undefined ? {} : { telemetry: port };
}

/** Once something was collected, a collector that fails and a thread that starts anew close nothing. */
function readiness(host: ThreadHost): PlacedMonitor["ready"] {
  let open = false;
  return () => {
    const first = host.states().find(({ name }) => name === FIRST_RUN);
    open ||= first?.phase === "ready";
    if (open) return { ok: true, reasons: [] };
    return { ok: false, reasons: [first?.reason ?? "starting: waiting for first run"] };
  };
}
