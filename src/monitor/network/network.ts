/**
 * One network: control plane, credential, telemetry scope, schedule, caches and checkpoints.
 * Networks are isolated from each other.
 */
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { CallReport, OperationStatus } from "../../kernel/client/types.ts";
import type { Component } from "../../kernel/supervisor/component.ts";
import { createScheduler } from "../../kernel/supervisor/scheduler.ts";
import { reportSeries } from "../../kernel/telemetry/report/telemetry-report.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import type { AnnotationSink } from "../annotations/types.ts";
import { createAuditIntake } from "../audit/intake.ts";
import { devicesSection } from "../collectors/devices/section.ts";
import { capabilityMatrix, offeredFeatures, type CapabilityRow } from "../capability/matrix.ts";
import { reportCapabilities, warnOfScopes } from "../capability/report.ts";
import { createCapabilityTracker, type CapabilityTracker } from "../capability/tracker.ts";
import type { NetworkMemory } from "../checkpoints/types.ts";
import type { Collector, PreparedCollector } from "../collectors/collector.ts";
import type { CollectorReport } from "../collectors/collector-report.ts";
import { createDeviceCache } from "../enrich/device-cache.ts";
import type { DeviceCache } from "../enrich/types.ts";
import type { EventSink } from "../events/types.ts";
import type { FlowSink } from "../flowstore/types.ts";
import type { Places } from "../geoip/types.ts";
import type { ReverseNames } from "../reverse-dns/types.ts";
import { createFlowIntake } from "../flows/intake.ts";
import type { AuditIntake, DecodedFlowIntake, DedupSetStatus } from "../flows/types.ts";
import type { MonitorOptions, NetworkOptions } from "../options.ts";
import { createPresenceLog } from "../presence/presence-log.ts";
import type { PresenceLog } from "../presence/types.ts";
import type { Device } from "../providers/model.ts";
import type { Provider } from "../providers/provider.ts";
import {
  createCollectorRunner,
  type CollectorRunner,
  type CollectorStatus,
} from "../runner/collector-runner.ts";
import { runCycle, type CollectorResult, type CycleBudget } from "../runner/cycle.ts";
import { CrossDedup } from "../ingest/cross-dedup.ts";
import type { Ingest } from "../receivers/target.ts";
import { unstarted } from "../runner/unstarted.ts";
import type { NetworkStatus } from "../status.ts";
import { createCallLedger, type CallLedger, type EndpointCalls } from "./call-ledger.ts";
import { createCallReports, type CallReports } from "./call-reports.ts";
import { isCollected } from "./collected.ts";
import { networkName } from "./network-name.ts";
import { reportNetwork } from "./network-report.ts";
import { noTraces, type NetworkTraces, type OpenTraces } from "./traces.ts";
import { networkScope, type OpenScope, type ScopeFacts } from "./network-scope.ts";
import { waitFor } from "../../kernel/async/wait.ts";

/** The collector that fills the device cache, and how long the first runs of others wait for it. */
const DEVICES = "devices";
const POLICY = "acl";
const DEVICES_WAIT_MS = 60_000;

/** Opens the control plane; `observe` receives each call. */
export type OpenProvider = (
  options: NetworkOptions,
  deps: { readonly log: Log; readonly observe: (report: CallReport) => void },
) => Provider;

export interface NetworkDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly facts: ScopeFacts & Pick<MonitorOptions, "metricIntervalMs" | "version" | "receivers">;
  readonly openScope: OpenScope;
  /** Undefined when tracing is off. */
  readonly openTraces?: OpenTraces | undefined;
  readonly openProvider: OpenProvider;
  readonly collectors: readonly Collector[];
  readonly memory: () => NetworkMemory;
  readonly annotations: AnnotationSink;
  readonly events: EventSink;
  /** Undefined while its flows are not stored. */
  readonly flowStore?: FlowSink | undefined;
  /** Undefined while reverse DNS is off. */
  readonly reverseNames?: ReverseNames | undefined;
  /** Undefined while no geo database is configured. */
  readonly places?: Places | undefined;
  readonly latestClientVersion: () => string | undefined;
  /** Called with the collectors before they run, and after each successful run. */
  readonly registered: (collector: string) => void;
  readonly succeeded: () => void;
  /** Components that start before and stop after it. */
  readonly needs: readonly string[];
}

export interface MonitoredNetwork {
  /** Its start does not wait for the control plane. */
  readonly component: Component;
  /** Undefined before its start. */
  status(): NetworkStatus | undefined;
  /** What receivers write to; undefined until the network is open. */
  ingest(): Ingest | undefined;
  /** Undefined until the network is open, and while its devices are not listed. */
  presence(): PresenceLog | undefined;
  /**
   * Runs every collector once, in place of a start; `stop` ends it too. Rejects only with
   * `invalid`, when the control plane's client cannot be created.
   */
  cycle(budget: CycleBudget): Promise<readonly CollectorResult[]>;
}

/** For the first runs of `devices` and `acl`; well below the time a receiver's request may take. */
const START_WAIT_MS = 10_000;

interface Registered {
  readonly collector: Collector;
  readonly prepared: PreparedCollector;
}

type Intakes = Pick<Ingest, "events" | "crossDedup"> & {
  readonly flows: DecodedFlowIntake & { dedupSets(): DedupSetStatus[] };
  readonly audit: AuditIntake & { dedupSets(): DedupSetStatus[] };
};

/** State that exists once the network's name is known. */
interface Opened extends Intakes {
  readonly name: string;
  readonly scope: Scope;
  readonly tracker: CapabilityTracker;
  readonly devices: DeviceCache;
  readonly presence: PresenceLog | undefined;
  readonly runners: readonly CollectorRunner[];
  readonly scheduler: ReturnType<typeof createScheduler>;
}

/** Makes no request before its start. */
export function createNetwork(deps: NetworkDeps, options: NetworkOptions): MonitoredNetwork {
  const network = new IsolatedNetwork(deps, options);
  return {
    component: {
      name: `network ${options.name}`,
      needs: deps.needs,
      readiness: "reported",
      start: () => network.start(),
      stop: (deadlineMs) => network.stop(deadlineMs),
      health: () => ({
        ok: network.failure === undefined,
        ...(network.failure === undefined ? {} : { reason: network.failure }),
      }),
    },
    status: () => network.status(),
    ingest: () => network.ingest(),
    presence: () => network.presence(),
    cycle: (budget) => network.cycle(budget),
  };
}

class IsolatedNetwork {
  readonly #deps: NetworkDeps;
  readonly #options: NetworkOptions;
  readonly #closed = new AbortController();
  readonly #calls: CallReports = createCallReports();
  readonly #ledger: CallLedger;
  #report: CollectorReport = {};
  /** The name lookup precedes the scope and has no span. */
  #traces: NetworkTraces = noTraces;
  #provider: Provider | undefined;
  #registered: readonly Registered[] = [];
  #opened: Opened | undefined;
  #opening: Promise<void> = Promise.resolve();
  #startWaitMs = START_WAIT_MS;
  /** Why it could not be opened. */
  failure: string | undefined;

  constructor(deps: NetworkDeps, options: NetworkOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#ledger = createCallLedger(() => deps.clock.now());
  }

  start(): Promise<void> {
    const { log } = this.#deps;
    const opening = this.#open(this.#tryPrepare(), this.#closed.signal).then(({ scheduler }) =>
      scheduler.start(this.#closed.signal, () => undefined),
    );
    this.#opening = opening.catch((thrown: unknown) => {
      if (this.#closed.signal.aborted) return;
      this.failure = toStewardError(thrown).message;
      log.error("collecting the network failed", { error: toStewardError(thrown) });
    });
    return Promise.resolve();
  }

  async cycle({ signal, timeoutMs }: CycleBudget): Promise<readonly CollectorResult[]> {
    // A cycle waits for its devices before it runs the others.
    this.#startWaitMs = 0;
    const { clock } = this.#deps;
    const beganMs = clock.monotonic();
    const opening = this.#open(this.#prepare(), AbortSignal.any([signal, this.#closed.signal]));
    this.#opening = opening.then(
      () => undefined,
      () => undefined,
    );
    const failed = (thrown: unknown): CollectorResult[] =>
      this.#registered.map(({ collector }) => ({
        network: this.#options.name,
        collector: collector.name,
        tookMs: clock.monotonic() - beganMs,
        error: toStewardError(thrown),
      }));
    return await opening.then(
      ({ name, runners }) => runCycle({ clock, network: name, runners }, { signal, timeoutMs }),
      failed,
    );
  }

  #tryPrepare(): Provider | undefined {
    try {
      return this.#prepare();
    } catch (thrown) {
      this.failure = toStewardError(thrown).message;
      throw thrown;
    }
  }

  /**
   * Creates the client and the collectors that it and the options allow; neither without a
   * credential.
   */
  #prepare(): Provider | undefined {
    const { openProvider, collectors, log, registered } = this.#deps;
    if (!isCollected(this.#options)) return undefined;
    const observe = (report: CallReport): void => {
      this.#ledger.observe(report);
      this.#traces.called(report, () => this.#calls.observe(report));
    };
    const provider = openProvider(this.#options, { log, observe });
    this.#provider = provider;
    this.#registered = collectors.flatMap((collector) => {
      const prepared =
        collector.needs === undefined || provider.supports(collector.needs)
          ? collector.prepare(this.#options)
          : undefined;
      return prepared === undefined ? [] : [{ collector, prepared }];
    });
    for (const { collector } of this.#registered) registered(collector.name);
    return provider;
  }

  async stop(deadlineMs: number): Promise<void> {
    this.#closed.abort(new StewardError("cancelled", "the process is stopping"));
    await this.#opening;
    await this.#opened?.scheduler.stop(deadlineMs);
    // The scope stays open until the last values are exported.
    this.#opened?.flows.flush();
    await this.#opened?.presence?.flush();
    await this.#provider?.close();
  }

  /** Marks failures of a simulated network. */
  #shown(status: CollectorStatus): CollectorStatus {
    const { last } = status;
    if (this.#options.simulated !== true || last?.error === undefined) return status;
    const mark = (text: string): string => `${text}, simulated by the demo`;
    return {
      ...status,
      last: {
        ...last,
        error: mark(last.error),
        ...(last.cause === undefined ? {} : { cause: mark(last.cause) }),
      },
    };
  }

  status(): NetworkStatus | undefined {
    const provider = this.#provider;
    const opened = this.#opened;
    if (provider === undefined && this.failure === undefined && opened === undefined)
      return undefined;
    const collectors =
      opened?.runners.map((runner) => this.#shown(runner.status())) ??
      this.#registered.map(({ collector, prepared }) => unstarted(collector, prepared));
    const endpoints = provider?.status() ?? [];
    const cardinality = opened?.scope.cardinality();
    return {
      id: this.#options.name,
      name: opened?.name ?? this.#options.name,
      provider: this.#options.provider.kind,
      authMethod:
        this.#options.provider.kind === "tailscale"
          ? this.#options.provider.auth?.method
          : "apikey",
      features: provider === undefined ? [] : offeredFeatures(this.#deps.collectors, provider),
      failure: this.failure,
      failing: collectors.filter(({ last }) => last?.error !== undefined).length,
      collectors,
      capabilities:
        provider === undefined ? [] : this.#matrix(provider, opened?.tracker ?? noOperations),
      endpoints,
      calls: this.#ledger.rows().map((calls) => explained(calls, endpoints)),
      report: this.#report,
      deviceCache: {
        size: opened?.devices.size ?? 0,
        ageMs: opened?.devices.isKnown === true ? opened.devices.ageMs() : undefined,
      },
      devices: opened?.devices.devices() ?? noDevices,
      dedupSets: opened === undefined ? [] : dedupSetsOf(opened),
      series: cardinality?.series ?? 0,
      cardinality,
    };
  }

  ingest(): Ingest | undefined {
    return this.#closed.signal.aborted ? undefined : this.#opened;
  }

  presence(): PresenceLog | undefined {
    return this.#opened?.presence;
  }

  async #open(provider: Provider | undefined, signal: AbortSignal): Promise<Opened> {
    const { clock, log, facts, openScope, openTraces } = this.#deps;
    const name =
      provider === undefined
        ? this.#options.name
        : await networkName(this.#options.name, provider, { clock, log, signal });
    signal.throwIfAborted();
    const scope = openScope(networkScope(facts, this.#options, name));
    this.#traces = openTraces?.(scope, this.#options) ?? noTraces;
    const presence = this.#presence();
    const devices = createDeviceCache({
      clock,
      reported: (listed) => presence?.observe(listed),
    });
    const intakes = this.#intakes(name, scope, devices);
    const tracker = createCapabilityTracker({ clock, scope });
    const runners =
      provider === undefined
        ? []
        : this.#runners({ name, scope, devices, tracker, provider, ...intakes });
    const scheduler = createScheduler({ clock, log }, { name: `schedules ${name}` });
    for (const { schedule } of runners) scheduler.add(schedule);
    if (this.#options.selfObservability) {
      this.#calls.open(scope);
      reportNetwork(scope, {
        devices: this.#collects(DEVICES) ? devices : undefined,
        dedupSets: () => dedupSetsOf(intakes),
        replayEvictions: () => this.#report.replayEvictions ?? 0,
      });
      reportSeries(scope);
      if (provider !== undefined)
        scope.observe(() => reportCapabilities(scope, this.#matrix(provider, tracker)));
    }
    const opened = { name, scope, tracker, devices, presence, ...intakes, runners, scheduler };
    this.#opened = opened;
    if (provider !== undefined) warnOfScopes(log, this.#matrix(provider, tracker));
    return opened;
  }

  #intakes(name: string, scope: Scope, devices: DeviceCache): Intakes {
    const { clock, log, annotations, events, flowStore, reverseNames, places, facts } = this.#deps;
    const options = { ...this.#options, name };
    flowStore?.named(name);
    const crossDedup =
      facts.receivers?.webhook?.dedupAuditEvents === true ? new CrossDedup() : undefined;
    return {
      flows: createFlowIntake({
        options,
        scope,
        clock,
        devices,
        store: flowStore,
        reverseNames,
        places,
        metricIntervalMs: facts.metricIntervalMs,
        awaitsDevices: this.#collects(DEVICES),
        awaitsPolicy: this.#collects(POLICY),
        startWaitMs: this.#startWaitMs,
      }),
      audit: createAuditIntake({ options, scope, clock, log, annotations, events, crossDedup }),
      events,
      crossDedup,
    };
  }

  #runners({
    name,
    scope,
    devices,
    tracker,
    provider,
    flows,
    audit,
  }: Intakes & {
    readonly name: string;
    readonly scope: Scope;
    readonly devices: DeviceCache;
    readonly tracker: CapabilityTracker;
    readonly provider: Provider;
  }): CollectorRunner[] {
    const { clock, log, annotations, latestClientVersion, succeeded, facts } = this.#deps;
    const options = { ...this.#options, name };
    // Checkpoints use the configured name, which is stable even when the name lookup fails.
    const memory = this.#deps.memory();
    const report = (values: CollectorReport): void =>
      void (this.#report = { ...this.#report, ...values });
    const deps = {
      network: name,
      version: facts.version,
      report,
      closed: this.#closed.signal,
      options,
      provider,
      clock,
      scope,
      devices,
      flows,
      audit,
      memory,
      annotations,
      accessPolicy: this.#deps.flowStore?.policy,
      places: this.#deps.places,
      latestClientVersion,
    };
    const waitForNames = async (signal: AbortSignal): Promise<void> =>
      void (await waitFor(devices.known, { clock, timeoutMs: DEVICES_WAIT_MS, signal }));
    const before = this.#collects(DEVICES) ? { before: waitForNames } : {};
    return this.#registered.map(({ collector, prepared }) =>
      createCollectorRunner(
        {
          clock,
          log,
          scope,
          tracker,
          memory,
          selfObservability: this.#options.selfObservability,
          succeeded,
          trace: (name, run) => this.#traces.run(name, run),
          ...(collector.namesDevices ? before : {}),
        },
        collector,
        prepared,
        prepared.open({ ...deps, log: log.child("collector", { collector: collector.name }) }),
      ),
    );
  }

  #presence(): PresenceLog | undefined {
    const section = devicesSection.of(this.#options);
    if (section === undefined || !this.#collects(DEVICES)) return undefined;
    const { clock, log } = this.#deps;
    const { presence: evidence } = this.#deps.memory();
    return createPresenceLog({ clock, log, evidence }, section);
  }

  #collects(name: string): boolean {
    return this.#registered.some(({ collector }) => collector.name === name);
  }

  #matrix(provider: Provider, tracker: Pick<CapabilityTracker, "operations">): CapabilityRow[] {
    return capabilityMatrix({
      collectors: this.#deps.collectors,
      registered: new Set(this.#registered.map(({ collector }) => collector.name)),
      options: this.#options,
      provider,
      tracker,
    });
  }
}

const noOperations: Pick<CapabilityTracker, "operations"> = { operations: () => [] };
const noDevices: readonly Device[] = [];

/** Adds the connection error where there was no response. */
function explained(calls: EndpointCalls, endpoints: readonly OperationStatus[]): EndpointCalls {
  if (calls.lastError === undefined) return calls;
  const attempts = endpoints.find(
    ({ operation, lastStatus }) => operation === calls.endpoint && lastStatus === 0,
  );
  return { ...calls, lastError: attempts?.lastMessage ?? calls.lastError };
}

function dedupSetsOf({ flows, audit, crossDedup }: Intakes): DedupSetStatus[] {
  return [
    ...flows.dedupSets(),
    ...audit.dedupSets(),
    ...(crossDedup === undefined ? [] : [crossDedup.status()]),
  ];
}
