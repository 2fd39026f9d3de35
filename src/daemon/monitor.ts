/**
 * Places the monitor in the house: its configuration, its thread, and what of it decides over
 * readiness.
 */
import type { MessagePort } from "node:worker_threads";
import type { Clock } from "../kernel/base/clock.ts";
import type { Ids } from "../kernel/base/ids.ts";
import type { RootLog } from "../kernel/base/log.ts";
import type { Environment } from "../kernel/config/key.ts";
import type { BoundService } from "../kernel/service.ts";
import type { Component } from "../kernel/supervisor/component.ts";
import type { Telemetry } from "../kernel/telemetry/telemetry.ts";
import type { HostDeps } from "../kernel/threads/host-spec.ts";
import { placeService } from "../kernel/threads/place.ts";
import type { Placement, ThreadHost } from "../kernel/threads/placed.ts";
import { createRemoteService } from "../kernel/threads/remote-service.ts";
import { monitorOptions } from "../monitor/config/monitor-options.ts";
import { FIRST_RUN } from "../monitor/first-run.ts";
import { monitorModule } from "../monitor/module.ts";
import type { MonitorOptions, NetworkOptions } from "../monitor/options.ts";
import { HOUSE_PORT } from "../monitor/status/house-facts.ts";
import type { DaemonConfiguration } from "./configuration.ts";
import { stewardVersion } from "./version.ts";

/**
 * What the configuration says of the monitor. A demo collects its simulated network, none of the
 * configured ones, and asks nobody for versions.
 */
export function monitorOptionsOf(
  { config, demo, stateDirectory, warnings }: DaemonConfiguration,
  environment: Environment,
  demoNetwork?: NetworkOptions,
): MonitorOptions {
  const options = monitorOptions(config, {
    version: stewardVersion(),
    stateDirectory,
    environment,
    warnings: warnings.length,
  });
  if (!demo.demo) return options;
  return {
    ...options,
    networks: demoNetwork === undefined ? [] : [demoNetwork],
    several: false,
    versionChecks: { ...options.versionChecks, devices: false },
  };
}

/** Of the monitor's thread: 100,000 series of several networks take a quarter of it. */
const HEAP_MB = 512;
/** What was measured last may take so long to be sent. */
const FLUSH_MS = 5_000;

/** What it is placed with. */
export interface MonitorPlace {
  /** Of this thread; a thread of the monitor's own has the system's. */
  readonly clock: Clock;
  readonly ids: Ids;
  readonly options: MonitorOptions;
  readonly telemetry: Pick<Telemetry, "port" | "flush" | "component">;
  /** Ports to what the status tells of the house; one for each start. */
  readonly house?: () => MessagePort;
  readonly log: RootLog;
  /** Telemetry among them. */
  readonly needs: readonly string[];
  /** The main thread where there is nothing to collect. */
  readonly on: Placement;
}

/** The placed monitor. */
export interface PlacedMonitor {
  readonly component: ThreadHost;
  /**
   * Takes the place of telemetry's component: whenever that starts anew, the monitor gets a new
   * port to it.
   */
  readonly telemetry: Component;
  /** What the gateway serves of it, whether it runs or not; without it a call is `not_ready`. */
  readonly rpc: readonly BoundService[];
  /** Whether it answers calls. */
  running(): boolean;
  /** Whether it holds the process's readiness back, and the line that says why. */
  ready(): { readonly ok: boolean; readonly reasons: readonly string[] };
}

/**
 * The monitor in its place. Without a credential it is idle: it collects and stores nothing, needs
 * no thread, and answers what it is asked all the same.
 */
export function placeMonitor({
  clock,
  ids,
  options,
  telemetry,
  house,
  log,
  needs,
  on,
}: MonitorPlace): PlacedMonitor {
  const idle = options.networks.length === 0;
  if (idle)
    log
      .child("monitor")
      .info("the monitor is idle: no credential of a control plane is configured", {
        remedy:
          "set vpn.auth, or headscale.url and headscale.api_key; services.monitor=false switches it off",
      });
  const deps: HostDeps = {
    clock,
    ids,
    log,
    ports: () => portsOf(telemetry, house),
    drained: (deadlineMs) => telemetry.flush(Math.min(deadlineMs, FLUSH_MS)),
  };
  const host = placeService(deps, monitorModule, {
    on: idle ? "main" : on,
    options: idle ? idleOptions(options) : options,
    needs,
    readiness: "reported",
    heapMb: HEAP_MB,
    variables: ambientVariables(options),
  });
  const { component } = telemetry;
  return {
    component: host,
    ready: readiness(host),
    rpc: createRemoteService(monitorModule.name, monitorModule.descriptors, [], host).rpc,
    running: () => isRunning(host),
    telemetry: {
      ...component,
      async start(signal, failed) {
        await component.start(signal, failed);
        host.renewPorts();
      },
    },
  };
}

/** Nothing is opened, and nobody asked, for what collects nothing. */
function idleOptions(options: MonitorOptions): MonitorOptions {
  return {
    ...options,
    checkpoint: { ...options.checkpoint, store: "memory", evidenceStore: "memory" },
    versionChecks: { ...options.versionChecks, devices: false },
    annotations: undefined,
  };
}

/**
 * Buckets without credentials of their own are read with those of the machine, which the store's
 * library finds in these variables.
 */
function ambientVariables({ networks }: MonitorOptions): readonly string[] {
  const feeds = networks.flatMap(({ collectors: { flowlogs, auditlogs, k8sAudit } }) => [
    flowlogs?.objectStore,
    auditlogs?.objectStore,
    k8sAudit?.objectStore,
  ]);
  return feeds.some((feed) => feed !== undefined && feed.credentials === undefined) ? ["AWS_"] : [];
}

function portsOf(
  telemetry: Pick<Telemetry, "port">,
  house: MonitorPlace["house"],
): ReturnType<NonNullable<HostDeps["ports"]>> {
  const port = telemetry.port();
  return {
    ...(port === undefined ? {} : { telemetry: port }),
    ...(house === undefined ? {} : { [HOUSE_PORT]: house() }),
  };
}

function isRunning(host: ThreadHost): boolean {
  try {
    return host.service().name !== "";
  } catch {
    return false;
  }
}

/**
 * Once something was collected, a collector that fails and a thread that starts anew close nothing.
 */
function readiness(host: ThreadHost): PlacedMonitor["ready"] {
  let open = false;
  return () => {
    const first = host.states().find(({ name }) => name === FIRST_RUN);
    open ||= first?.phase === "ready";
    if (open) return { ok: true, reasons: [] };
    return { ok: false, reasons: [first?.reason ?? "starting: waiting for first run"] };
  };
}
