/** Hosts the monitor: its options from the configuration, its thread, and its part of readiness. */
import type { MessagePort } from "node:worker_threads";
import type { Clock } from "../../kernel/base/clock.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { RootLog } from "../../kernel/base/log.ts";
import type { Environment } from "../../kernel/config/key.ts";
import type { BoundService, PlainRoute } from "../../kernel/service.ts";
import type { Component, ComponentState } from "../../kernel/supervisor/component.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import type { Telemetry } from "../../kernel/telemetry/telemetry.ts";
import type { HostDeps } from "../../kernel/threads/host/host-spec.ts";
import { createServiceHost } from "../../kernel/threads/host/service-host.ts";
import type { Placement, ThreadHost } from "../../kernel/threads/hosted-service.ts";
import { createRemoteService } from "../../kernel/threads/calls/remote-service.ts";
import { monitorOptions } from "../../monitor/config/monitor-options.ts";
import { storesFlows } from "../../monitor/flowstore/fed.ts";
import { FLOWS_CSV_ROUTE } from "../../monitor/flowstore/flows-csv.ts";
import { isAnyCollected } from "../../monitor/network/collected.ts";
import { FIRST_RUN } from "../../monitor/first-run.ts";
import { monitorModule } from "../../monitor/module.ts";
import {
  auditlogsSection,
  flowlogsSection,
  k8sAuditSection,
} from "../../monitor/collectors/log-sections.ts";
import { openElection } from "../../monitor/coordination/open.ts";
import type { CoordinationOptions } from "../../monitor/coordination/options.ts";
import { DELIVERY_PORT } from "../../monitor/ingress/delivery.ts";
import { INGRESS } from "../../monitor/ingress/states.ts";
import { RECEIVERS } from "../../monitor/receivers/names.ts";
import type { MonitorOptions, NetworkOptions } from "../../monitor/options.ts";
import { PROCESS_STATUS_PORT } from "../../monitor/status/process/process-status.ts";
import type { DaemonConfiguration } from "../configuration.ts";
import { createDeliveryPorts } from "../telemetry/delivery-port.ts";
import { stewardVersion } from "../version.ts";
import { COORDINATION, coordinationComponent, reportCoordination } from "./coordination.ts";
import { createElectedHost, type ElectedHost } from "./elected-host.ts";

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
  /** The lease shared with other replicas; undefined while this process is the only one. */
  readonly coordination?: CoordinationDeps | undefined;
}

interface CoordinationDeps {
  readonly options: CoordinationOptions;
  readonly environment: Environment;
  /** The process's own. */
  readonly scope: Scope;
}

export interface HostedMonitor {
  readonly component: ThreadHost;
  /**
   * Replaces telemetry's component: whenever telemetry restarts, the monitor gets a new port to it.
   */
  readonly telemetry: Component;
  /** Shows the lease; undefined without one. */
  readonly coordination: Component | undefined;
  /** Served whether the monitor runs or not; while it does not, calls fail with `not_ready`. */
  readonly rpc: readonly BoundService[];
  /** The same for the export of flows as CSV. */
  readonly flowsCsv: readonly PlainRoute[];
  running(): boolean;
  /** Whether flows are stored, once it runs. */
  readonly hasFlows: boolean;
  /** The components of the receivers and of the ingress log; empty while the thread does not run or none is switched on. */
  receivers(): readonly ComponentState[];
  /** Whether the monitor lets the process be ready, and the reasons if not. */
  ready(): { readonly ok: boolean; readonly reasons: readonly string[] };
}

/**
 * Hosts the monitor. With neither a credential nor a receiver it is idle: it stores nothing and needs
 * no thread, but still answers calls.
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
  coordination,
}: HostMonitorDeps): HostedMonitor {
  const idle = options.networks.length === 0;
  if (!isAnyCollected(options))
    log
      .child("monitor")
      .info(
        `${idle ? "the monitor is idle" : "only the receivers are served and nothing is collected"}: no credential of a control plane is configured`,
        {
          remedy:
            "set vpn.auth, or headscale.url and headscale.api_key; services.monitor=false switches it off",
        },
      );
  const delivery = options.ingress && createDeliveryPorts(telemetry);
  const open = (given: MonitorOptions): ThreadHost => {
    const deps: HostDeps = {
      clock,
      ids,
      log,
      ports: () =>
        portsOf(telemetry, { processStatus, delivery: delivery?.port, fence: given.fence }),
      drained: (deadlineMs) => telemetry.flush(Math.min(deadlineMs, FLUSH_MS)),
    };
    return createServiceHost(deps, monitorModule, {
      on: idle ? "main" : on,
      options: given,
      needs,
      readiness: "reported",
      heapMb: HEAP_MB,
      variables: ambientVariables(options),
    });
  };
  const elected = idle
    ? undefined
    : coordination && elect({ ...coordination, clock, ids, log, monitor: options }, open);
  const host = elected ?? open(idle ? idleOptions(options) : options);
  const { component } = telemetry;
  const { name, descriptors } = monitorModule;
  // In the order of the service's routes.
  const remote = createRemoteService(name, descriptors, [FLOWS_CSV_ROUTE], host);
  return {
    component: host,
    coordination: elected && coordinationComponent(() => elected.election()),
    ready: readiness(host),
    rpc: remote.rpc,
    flowsCsv: remote.plain,
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
    annotations: undefined,
    ingress: undefined,
  };
}

interface ElectDeps extends CoordinationDeps, Pick<HostMonitorDeps, "clock" | "ids" | "log"> {
  readonly monitor: MonitorOptions;
}

/** The host of a replica that monitors only while it holds the lease. */
function elect(
  { clock, ids, log, monitor, options, environment, scope }: ElectDeps,
  open: (given: MonitorOptions) => ThreadHost,
): ElectedHost {
  const host = createElectedHost({
    clock,
    open: (tenure) =>
      open(
        tenure === undefined
          ? standbyOptions(monitor, options)
          : { ...monitor, fence: tenure.fence.memory, positions: tenure.positions },
      ),
    elect: (work) =>
      openElection(
        { clock, log: log.child(COORDINATION), work },
        { ids, version: stewardVersion(), environment },
        options,
      ),
  });
  if (monitor.selfObservability.enabled) reportCoordination(scope, () => host.election());
  return host;
}

/** On standby it only refuses what the receivers get. */
function standbyOptions(options: MonitorOptions, { ttlMs }: CoordinationOptions): MonitorOptions {
  const { flows } = options;
  return {
    ...idleOptions(options),
    networks: [],
    standby: { retryAfterMs: ttlMs },
    flows: flows && { ...flows, disk: undefined },
    reverseDns: undefined,
    geoip: undefined,
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

interface PortSources {
  readonly processStatus: HostMonitorDeps["processStatus"];
  readonly delivery: (() => MessagePort) | undefined;
  readonly fence: SharedArrayBuffer | undefined;
}

function portsOf(
  telemetry: Pick<Telemetry, "port">,
  { processStatus, delivery, fence }: PortSources,
): ReturnType<NonNullable<HostDeps["ports"]>> {
  const port = telemetry.port(fence);
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
