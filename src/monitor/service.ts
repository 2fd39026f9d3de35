/** The monitor: all networks and their shared parts, on any thread. */
import { fenceOf } from "../kernel/base/fence.ts";
import type { Log, LogFields, LogLevel } from "../kernel/base/log.ts";
import type { Service } from "../kernel/service.ts";
import type { CreateHostedService, ThreadContext } from "../kernel/threads/hosted-service.ts";
import { reportCertificate } from "../kernel/telemetry/report/service-report.ts";
import { processIdentity } from "../kernel/telemetry/resource.ts";
import type { Scope } from "../kernel/telemetry/types.ts";
import { createTelemetryWriter, type TelemetryWriter } from "../kernel/telemetry/writer/writer.ts";
import { createAnnotator, noAnnotations, REMEMBERED_ANNOTATIONS } from "./annotations/annotator.ts";
import { createAnnotationBackend } from "./annotations/backend.ts";
import type { AnnotationSink } from "./annotations/types.ts";
import { unnamedWhere } from "./annotations/unnamed.ts";
import {
  checkpointDiskSize,
  checkpointPersistAge,
  configValid,
  configWarnings,
} from "./catalogue/collection.ts";
import { openCheckpoints, type Checkpoints } from "./checkpoints/open.ts";
import type { NetworkMemory } from "./checkpoints/types.ts";
import {
  createSharedPositions,
  POSITIONS_TOPIC,
  type SharedPositions,
} from "./coordination/shared-positions.ts";
import { allCollectors } from "./collectors/all.ts";
import { createEventApi } from "./events/event-api.ts";
import { createEventStore, type EventStore } from "./events/event-store.ts";
import { createFlowApi } from "./flowstore/flow-api.ts";
import { flowsCsvRoute } from "./flowstore/flows-csv.ts";
import type { FlowStores } from "./flowstore/flow-store.ts";
import { openFlowStores } from "./flowstore/flow-stores.ts";
import { addGeoip, type Geoip } from "./geoip/geoip.ts";
import { createFirstRun } from "./first-run.ts";
import { createDeliveryClient, DELIVERY_PORT } from "./ingress/delivery.ts";
import { createIngressLog } from "./ingress/ingress-log.ts";
import { reportIngress } from "./ingress/report.ts";
import { isAnyCollected } from "./network/collected.ts";
import { createNetwork, type MonitoredNetwork, type OpenProvider } from "./network/network.ts";
import type { OpenScope } from "./network/network-scope.ts";
import { createTraces, type OpenTraces } from "./network/traces.ts";
import { openProvider } from "./network/open-provider.ts";
import type { MonitorOptions } from "./options.ts";
import { RECEIVERS } from "./receivers/names.ts";
import { createReceiverEffects } from "./receivers/effects.ts";
import { createIntake } from "./receivers/intake.ts";
import { createReceivers, type Receivers } from "./receivers/receivers.ts";
import { createStandbyReceivers } from "./receivers/standby.ts";
import { addReverseDns, createReverseDnsApi, type ReverseDns } from "./reverse-dns/reverse-dns.ts";
import { createPresenceApi } from "./presence/presence-api.ts";
import { reportPrivacy } from "./privacy/report.ts";
import type { MonitorStatus } from "./status.ts";
import { createStatusPublisher } from "./status/status-publisher.ts";
import { createLatestClient } from "./versions/latest-client.ts";

/** The service, with access for its thread. */
export interface MonitorService extends Service {
  status(): MonitorStatus;
}

/** Number of the annotation at the stop; others count from 0. */
const LAST_MARK = -1;
/** Names of components that networks depend on. */
const WRITER = "writer";
const CHECKPOINTS = "checkpoints";
const FLOWS = "flows";
const ANNOTATIONS = "annotations";
const POSITIONS = "positions";
/** Name of the telemetry port. */
const TELEMETRY_PORT = "telemetry";
/** Checkpoint name of process-wide state; no network has an empty name. */
const PROCESS_MEMORY = "";

/** Creates the monitor with the supported control planes. */
export const createMonitor: CreateHostedService<MonitorOptions> = (context, options) =>
  createMonitorWith(context, options, openProvider(context, options));

export async function createMonitorWith(
  context: ThreadContext,
  options: MonitorOptions,
  open: OpenProvider,
): Promise<MonitorService> {
  // Loads the OpenTelemetry SDK only when tracing is on.
  const tracing = options.tracing && {
    ...options.tracing,
    ...(await import("../kernel/telemetry/tracing/tracing.ts")),
  };
  const writer = createWriter(context, options, tracing?.runningFields);
  context.add({
    name: WRITER,
    needs: [],
    readiness: "none",
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(writer.mark(LAST_MARK)),
  });
  const { clock, ids } = context;
  const log = tracing === undefined ? context.log : related(context.log, tracing.runningFields);
  const openTraces: OpenTraces | undefined =
    tracing &&
    ((scope, { provider }) =>
      createTraces(
        {
          clock,
          privacy: options.privacy,
          tracing: tracing.createTracing({ ...tracing.runs, remoteParent: "ignore" }, (make) =>
            scope.span(make),
          ),
        },
        provider.kind,
      ));
  const { networks, checkpoints, events, flows, reverseDns, geoip, scope } = await assembleMonitor(
    {
      clock,
      ids,
      log,
      add: (component) => context.add(component),
      publish: (topic, body) => context.publish(topic, body),
      openScope: (spec) => writer.scope(spec),
      needs: [WRITER],
      openTraces,
    },
    options,
    open,
  );
  for (const { component } of networks) context.add(component);
  const traces =
    tracing &&
    tracing.createTracing({ ...tracing.receivers, remoteParent: tracing.remoteParent }, (make) =>
      scope.span(make),
    );
  const targets = networks.map((network, index) => ({
    id: options.networks[index]?.name ?? "",
    selfObservability: options.networks[index]?.selfObservability ?? false,
    ingest: () => network.ingest(),
  }));
  const effects = createReceiverEffects(clock, targets);
  const delivery = createDeliveryClient(clock, (mark) => writer.mark(mark));
  const needs = networks.map(({ component }) => component.name);
  const ingress =
    options.ingress &&
    createIngressLog(
      {
        clock,
        log: log.child("ingress"),
        version: options.version,
        effectOf: (entry, body) => effects.of(entry, body),
        settle: () => networks.forEach((network) => network.ingest()?.flows.flush()),
        maxRecords: (options.logs?.capacity ?? Number.POSITIVE_INFINITY) / 2,
        deliver: (deadlineMs) => delivery.deliver(deadlineMs),
        needs,
      },
      options.ingress,
    );
  if (ingress !== undefined) {
    context.add(ingress.component);
    if (options.selfObservability.enabled) reportIngress(scope, ingress);
  }
  const receivers =
    options.receivers &&
    (options.standby === undefined
      ? createReceivers(
          {
            clock,
            log,
            ids,
            traces,
            targets,
            effects,
            intake: createIntake(clock, ingress),
            needs: [...needs, ...(ingress === undefined ? [] : [ingress.component.name])],
          },
          options.receivers,
        )
      : createStandbyReceivers({ clock, log }, options.receivers, options.standby.retryAfterMs));
  for (const component of receivers?.components ?? []) context.add(component);
  if (options.selfObservability.enabled)
    for (const name of RECEIVERS)
      reportCertificate(scope, name, () => certificateOf(receivers, name));
  const status = (): MonitorStatus => ({
    networks: networks.flatMap((network) => network.status() ?? []),
    checkpoints: checkpoints.status(),
    flows: flows?.status(),
    reverseDns,
    geoip,
    certificates: receivers?.certificates() ?? [],
    events: events?.status(),
  });
  const publisher = createStatusPublisher(
    { clock, log: log.child("status"), monitor: status, ownSeries: () => [scope.cardinality()] },
    options,
  );
  context.add(publisher.component);
  const attach = (ports: ThreadContext["ports"]): void => {
    if (ports[TELEMETRY_PORT] !== undefined)
      writer.attach(ports[TELEMETRY_PORT], {
        logs: options.logs !== undefined,
        spans: tracing !== undefined,
      });
    publisher.attach(ports);
    const { [DELIVERY_PORT]: port } = ports;
    if (port !== undefined) delivery.attach(port);
  };
  attach(context.ports);
  context.onPorts(attach);
  return {
    name: "monitor",
    rpc: [
      publisher.service,
      createEventApi(clock, events),
      createFlowApi(clock, flows),
      createReverseDnsApi(reverseDns),
      createPresenceApi(
        clock,
        () =>
          networks.map((network, index) => ({
            name: options.networks[index]?.name ?? "",
            view: (window) => network.presence()?.view(window),
          })),
        () => publisher.counts(),
      ),
    ],
    plain: [flowsCsvRoute({ clock, stores: flows })],
    status,
  };
}

function certificateOf(receivers: Receivers | undefined, name: string) {
  return receivers?.certificates().find((each) => each.name === name)?.certificate;
}

export interface MonitorDeps extends Pick<ThreadContext, "clock" | "ids" | "log" | "add"> {
  /** Takes the read positions that replicas share. */
  readonly publish?: ThreadContext["publish"];
  readonly openScope: OpenScope;
  readonly openTraces?: OpenTraces | undefined;
  /** Components that start before the monitor's and stop after them. */
  readonly needs: readonly string[];
}

/** Networks to add, and their stores. */
export interface MonitorParts {
  readonly networks: readonly MonitoredNetwork[];
  readonly checkpoints: Checkpoints;
  /** Undefined while `events.enabled` is false. */
  readonly events: EventStore | undefined;
  /** Undefined while no flows are stored. */
  readonly flows: FlowStores | undefined;
  /** Undefined while it is off. */
  readonly reverseDns: ReverseDns | undefined;
  readonly geoip: Geoip | undefined;
  /** The process's own series, which belong to no network. */
  readonly scope: Scope;
}

/** Creates the shared parts and adds them as components. */
export async function assembleMonitor(
  deps: MonitorDeps,
  options: MonitorOptions,
  open: OpenProvider,
): Promise<MonitorParts> {
  const { clock, ids, log, add, openScope, openTraces } = deps;
  const { version } = options;
  const checkpoints = await openCheckpoints({ clock, log, version }, options.checkpoint);
  const scope = openScope({
    name: "monitor",
    resource: options.resource,
    logResource: processIdentity(),
    constants: {},
  });
  reportProcess(scope, options, checkpoints);
  const firstRun = createFirstRun();
  const latest = createLatestClient(
    { clock, ids, log, version },
    {
      ...options.versionChecks,
      // Without devices there is nothing to compare with.
      devices: options.versionChecks.devices && isAnyCollected(options),
    },
  );
  // Required within the thread, so that a failure shows the monitor as degraded; it does not affect
  // the process's readiness.
  add({
    name: CHECKPOINTS,
    needs: deps.needs,
    readiness: "required",
    start: () => Promise.resolve(),
    stop: () => checkpoints.close(),
    health: () => checkpoints.health(),
  });
  add(latest);
  add(firstRun.component);
  const annotations = addAnnotations(deps, options, { scope, checkpoints });
  const events = options.events.enabled ? createEventStore(options.events) : undefined;
  const flows = await openFlowStores({ clock, log: log.child("flows"), version }, options);
  if (flows !== undefined)
    add({
      name: FLOWS,
      needs: deps.needs,
      readiness: "reported",
      start: () => Promise.resolve(),
      stop: () => flows.close(),
      health: () => flows.health(),
    });
  const reverseDns = addReverseDns(
    deps,
    options.reverseDns,
    options.selfObservability.enabled ? scope : undefined,
  );
  const geoip = addGeoip(deps, options.geoip, version, scope);
  const shared = addSharedPositions(deps, options);
  const memoryOf = (network: string): NetworkMemory => {
    const own = checkpoints.network(network);
    return shared?.of(network, own) ?? own;
  };
  const networks = options.networks.map((network): MonitoredNetwork => {
    const shown = (collector: string): string =>
      options.several ? `${network.name}/${collector}` : collector;
    return createNetwork(
      {
        clock,
        log: log.child("network", { network: network.name }),
        facts: options,
        openScope,
        openTraces,
        openProvider: open,
        collectors: allCollectors,
        memory: () => memoryOf(network.name),
        annotations,
        events: events ?? { record: () => undefined },
        flowStore: flows?.of(network.name),
        reverseNames: reverseDns?.names,
        places: geoip?.places,
        latestClientVersion: () => latest.latest(),
        registered: (collector) => firstRun.registered(shown(collector)),
        succeeded: () => firstRun.succeeded(),
        needs: [
          ...deps.needs,
          CHECKPOINTS,
          ...(shared === undefined ? [] : [POSITIONS]),
          ...(flows === undefined ? [] : [FLOWS]),
          ...(options.annotations === undefined ? [] : [ANNOTATIONS]),
          latest.name,
          ...(reverseDns === undefined ? [] : [reverseDns.component.name]),
          ...(geoip === undefined ? [] : [geoip.component.name]),
        ],
      },
      network,
    );
  });
  return { networks, checkpoints, events, flows, reverseDns, geoip, scope };
}

function createWriter(
  { clock }: ThreadContext,
  { logs, tracing }: MonitorOptions,
  running: (() => LogFields) | undefined,
): TelemetryWriter {
  return createTelemetryWriter({
    clock,
    sendsFigures: true,
    ...(tracing === undefined ? {} : { spans: { capacity: tracing.capacity } }),
    ...(running === undefined ? {} : { related: running }),
    ...(logs === undefined
      ? {}
      : {
          logs: { capacity: logs.capacity, limits: { body: logs.body, attribute: logs.attribute } },
        }),
  });
}

/** A log that links its lines to the active span. */
function related(log: Log, running: () => LogFields): Log {
  const at =
    (level: LogLevel) =>
    (message: string, fields?: LogFields): void =>
      log[level](message, { ...running(), ...fields });
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: (component, fields) => related(log.child(component, fields), running),
  };
}

/** Reports metrics that belong to no network. */
function reportProcess(
  scope: Scope,
  { privacy, selfObservability, configWarnings: warnings }: MonitorOptions,
  checkpoints: Checkpoints,
): void {
  if (!selfObservability.enabled) return;
  reportPrivacy(scope, privacy);
  scope.observe(() => {
    scope.gauge(configValid, 1, {});
    scope.gauge(configWarnings, warnings, {});
    const { bytes, persistAgeMs } = checkpoints.status();
    if (bytes !== undefined) scope.gauge(checkpointDiskSize, bytes, {});
    if (persistAgeMs !== undefined) scope.gauge(checkpointPersistAge, persistAgeMs / 1_000, {});
  });
}

/** Adds the read positions that replicas share, while they share a lease. */
function addSharedPositions(
  { clock, add, publish }: MonitorDeps,
  { fence, positions }: MonitorOptions,
): SharedPositions | undefined {
  if (fence === undefined || publish === undefined) return undefined;
  const shared = createSharedPositions(clock, positions, (text) =>
    publish(POSITIONS_TOPIC, Buffer.from(text)),
  );
  add({
    name: POSITIONS,
    needs: [],
    readiness: "none",
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(shared.flush()),
  });
  return shared;
}

/** Adds the annotator if a backend is configured. */
function addAnnotations(
  deps: MonitorDeps,
  { annotations, version, privacy, fence }: MonitorOptions,
  { scope, checkpoints }: { readonly scope: Scope; readonly checkpoints: Checkpoints },
): AnnotationSink {
  if (annotations === undefined) return noAnnotations;
  const { clock, ids, log } = deps;
  const seen = checkpoints.network(PROCESS_MEMORY).seen(ANNOTATIONS, REMEMBERED_ANNOTATIONS);
  const annotator = createAnnotator(
    {
      clock,
      log: log.child(ANNOTATIONS),
      scope,
      seen,
      fence: fence && fenceOf(fence, clock),
      backend: createAnnotationBackend({ clock, ids, version }, annotations),
    },
    annotations,
  );
  // Private fields forbid copying the object, so it is wrapped. It stops before its store closes.
  deps.add({
    name: ANNOTATIONS,
    needs: [...deps.needs, CHECKPOINTS],
    readiness: annotator.readiness,
    async start(signal, failed) {
      await annotator.start(signal, failed);
      annotator.publish({
        category: "startup",
        timeMs: clock.now(),
        text: `Steward ${version} started.`,
        tags: [],
        identity: `${clock.now()}`,
      });
    },
    stop: (deadlineMs) => annotator.stop(deadlineMs),
    health: () => annotator.health?.() ?? { ok: true },
  });
  return unnamedWhere(privacy, annotator);
}
