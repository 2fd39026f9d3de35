/** Hosts the monitor: its options from the configuration, its thread, and its part of readiness. */
import type { MessagePort } from "node:worker_threads";
import type { Clock } from "../../kernel/base/clock.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { RootLog } from "../../kernel/base/log.ts";
import type { Environment } from "../../kernel/config/key.ts";
import type { BoundService } from "../../kernel/service.ts";
import type { Component, ComponentState } from "../../kernel/supervisor/component.ts";
import type { Telemetry } from "../../kernel/telemetry/telemetry.ts";
import type { HostDeps } from "../../kernel/threads/host/host-spec.ts";
import { createServiceHost } from "../../kernel/threads/host/service-host.ts";
import type { Placement, ThreadHost } from "../../kernel/threads/hosted-service.ts";
import { createRemoteService } from "../../kernel/threads/calls/remote-service.ts";
import { monitorOptions } from "../../monitor/config/monitor-options.ts";
import { storesFlows } from "../../monitor/flowstore/fed.ts";
import { FIRST_RUN } from "../../monitor/first-run.ts";
import { monitorModule } from "../../monitor/module.ts";
import {
  auditlogsSection,
  flowlogsSection,
  k8sAuditSection,
} from "../../monitor/collectors/log-sections.ts";
import { DELIVERY_PORT } from "../../monitor/ingress/delivery.ts";
import { INGRESS } from "../../monitor/ingress/states.ts";
import { RECEIVERS } from "../../monitor/receivers/names.ts";
import type { MonitorOptions, NetworkOptions } from "../../monitor/options.ts";
import { PROCESS_STATUS_PORT } from "../../monitor/status/process/process-status.ts";
import type { DaemonConfiguration } from "../configuration.ts";
import { createDeliveryPorts } from "../telemetry/delivery-port.ts";
import { stewardVersion } from "../version.ts";

/** The monitor's options. A demo collects only its simulated network and looks up no versions. */
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

/** Heap limit of the monitor's thread: 100,000 series in several networks need a quarter of it. */
const HEAP_MB = 512;
const receiverNames: ReadonlySet<string> = new Set([...RECEIVERS, INGRESS]);
/** Longest flush of the last measurements at a stop. */
const FLUSH_MS = 5_000;

export interface HostMonitorDeps {
  /** Used when the monitor runs in this thread; a thread of its own uses the system clock. */
  readonly clock: Clock;
  readonly ids: Ids;
  readonly options: MonitorOptions;
  readonly telemetry: Pick<Telemetry, "port" | "flush" | "status" | "component">;
  /** Opens a port to the process's part of the status; called at each start. */
  readonly processStatus?: () => MessagePort;
  readonly log: RootLog;
  /** Includes telemetry. */
  readonly needs: readonly string[];
  /** An idle monitor always runs in the main thread. */
  readonly on: Placement;
}

export interface HostedMonitor {
  readonly component: ThreadHost;
  /**
   * Replaces telemetry's component: whenever telemetry restarts, the monitor gets a new port to it.
   */
  readonly telemetry: Component;
  /** Served whether the monitor runs or not; while it does not, calls fail with `not_ready`. */
  readonly rpc: readonly BoundService[];
  running(): boolean;
  /** Whether flows are stored, once it runs. */
  readonly hasFlows: boolean;
  /** The components of the receivers and of the ingress log; empty while the thread does not run or none is switched on. */
  receivers(): readonly ComponentState[];
  /** Whether the monitor lets the process be ready, and the reasons if not. */
  ready(): { readonly ok: boolean; readonly reasons: readonly string[] };
}

/**
 * Hosts the monitor. Without a credential it is idle: it collects and stores nothing and needs no
 * thread, but still answers calls.
 */
export function hostMonitor({
  clock,
  ids,
  options,
  telemetry,
  processStatus,
  log,
  needs,
  on,
}: HostMonitorDeps): HostedMonitor {
  const idle = options.networks.length === 0;
  if (idle)
    log
      .child("monitor")
      .info("the monitor is idle: no credential of a control plane is configured", {
        remedy:
          "set vpn.auth, or headscale.url and headscale.api_key; services.monitor=false switches it off",
      });
  const delivery = options.ingress && createDeliveryPorts(telemetry);
  const deps: HostDeps = {
    clock,
    ids,
    log,
    ports: () => portsOf(telemetry, processStatus, delivery?.port),
    drained: (deadlineMs) => telemetry.flush(Math.min(deadlineMs, FLUSH_MS)),
  };
  const host = createServiceHost(deps, monitorModule, {
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
    hasFlows: !idle && storesFlows(options),
    receivers: () => host.states().filter(({ name }) => receiverNames.has(name)),
    telemetry: {
      ...component,
      async start(signal, failed) {
        await component.start(signal, failed);
        host.renewPorts();
      },
    },
  };
}

/** An idle monitor opens nothing and sends no request. */
function idleOptions(options: MonitorOptions): MonitorOptions {
  return {
    ...options,
    checkpoint: { ...options.checkpoint, store: "memory", evidenceStore: "memory" },
    versionChecks: { ...options.versionChecks, devices: false },
    annotations: undefined,
    ingress: undefined,
  };
}

/**
 * Buckets without credentials of their own use the AWS SDK's default credential chain, which reads
 * these variables.
 */
function ambientVariables({ networks }: MonitorOptions): readonly string[] {
  const feeds = networks.flatMap((network) =>
    [flowlogsSection, auditlogsSection, k8sAuditSection].map(
      (section) => section.of(network)?.objectStore,
    ),
  );
  return feeds.some((feed) => feed !== undefined && feed.credentials === undefined) ? ["AWS_"] : [];
}

function portsOf(
  telemetry: Pick<Telemetry, "port">,
  processStatus: HostMonitorDeps["processStatus"],
  delivery: (() => MessagePort) | undefined,
): ReturnType<NonNullable<HostDeps["ports"]>> {
  const port = telemetry.port();
  return {
    ...(port === undefined ? {} : { telemetry: port }),
    ...(processStatus === undefined ? {} : { [PROCESS_STATUS_PORT]: processStatus() }),
    ...(delivery === undefined ? {} : { [DELIVERY_PORT]: delivery() }),
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
 * After the first collection, a failing collector or a restarting thread no longer affects
 * readiness.
 */
function readiness(host: ThreadHost): HostedMonitor["ready"] {
  let open = false;
  return () => {
    const first = host.states().find(({ name }) => name === FIRST_RUN);
    open ||= first?.phase === "ready";
    if (open) return { ok: true, reasons: [] };
    return { ok: false, reasons: [first?.reason ?? "starting: waiting for first run"] };
  };
}
