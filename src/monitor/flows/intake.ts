/**
 * Processes flow records from every source: decode, validate, deduplicate, enrich, roll up, log.
 * Works in slices of a few milliseconds, since it shares the monitor's thread.
 */
import type { Clock } from "../../kernel/base/clock.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import { flowlogsSection } from "../collectors/log-sections.ts";
import { createEndpointReader } from "../enrich/addresses.ts";
import { deviceLabel } from "../enrich/names.ts";
import type { DeviceCache } from "../enrich/types.ts";
import { createIngestObserver } from "../ingest/observer.ts";
import type { IngestObserver } from "../ingest/observer.ts";
import type { NetworkOptions } from "../options.ts";
import { EarlySeries } from "./early-series.ts";
import { connectionKey, FlowDedup, recordKey } from "./dedup.ts";
import type { Origin } from "./dedup.ts";
import { createEnricher } from "./enriched.ts";
import type { EnrichedFlow } from "./enriched.ts";
import { createFlowLog } from "./flow-log.ts";
import type { FlowLog, ReporterFacts } from "./flow-log.ts";
import { referencesOf } from "./identity.ts";
import { createFlowDecoder, EXIT } from "./record.ts";
import type { Counters, FlowRecord, NodeReference } from "./record.ts";
import { consistencyOf, createReporterTrust } from "./reporter.ts";
import { FlowRollup } from "./rollup.ts";
import { Tallies } from "./tallies.ts";
import { createDirectTraffic, createRollupTraffic } from "./traffic-metrics.ts";
import type {
  DecodedFlowIntake,
  DedupSetStatus,
  FlowBatch,
  IngestSource,
  IntakeReport,
} from "./types.ts";
import { UniqueDestinations } from "./unique.ts";
import { networkStoreDropped } from "../catalogue/flows.ts";
import { observationOf } from "../flowstore/observation.ts";
import type { FlowSink } from "../flowstore/types.ts";
import type { Places } from "../geoip/types.ts";
import type { ReverseNames } from "../reverse-dns/types.ts";
import { waitFor } from "../../kernel/async/wait.ts";
import { nextTurn } from "../../kernel/async/turns.ts";

export interface FlowIntakeDeps {
  readonly options: NetworkOptions;
  /**
   * The network's scope. Rolled-up sums are flushed into it before a snapshot, once per metric
   * interval.
   */
  readonly scope: Scope;
  readonly clock: Clock;
  readonly devices: DeviceCache;
  /** Undefined while flows are not stored. */
  readonly store?: FlowSink | undefined;
  /** Undefined while reverse DNS is off. */
  readonly reverseNames?: ReverseNames | undefined;
  /** Undefined while no geo database is configured. */
  readonly places?: Places | undefined;
  readonly metricIntervalMs: number;
  /** Whether devices will become known; series named before then end. */
  readonly awaitsDevices?: boolean;
  /** Whether the access policy will be read. */
  readonly awaitsPolicy?: boolean;
  /** How long after its creation batches wait for devices and policy, where they will come. */
  readonly startWaitMs?: number;
}

/** Longest slice before yielding. */
const STRETCH_MS = 5;
/** Connections between two checks of the clock. */
const LOOK_EVERY = 8;
/** Tolerance between the exporter's interval and ours: a slightly early snapshot still flushes. */
const EARLY = 0.9;

const nothing: Counters = { txBytes: 0, rxBytes: 0, txPackets: 0, rxPackets: 0 };
const noConnection = "-";

/** One per network; it ends with its scope. */
export function createFlowIntake(
  deps: FlowIntakeDeps,
): DecodedFlowIntake & { dedupSets(): DedupSetStatus[] } {
  return new NetworkIntake(deps);
}

class NetworkIntake implements DecodedFlowIntake {
  readonly #deps: FlowIntakeDeps;
  readonly #decoder = createFlowDecoder();
  readonly #endpoints = createEndpointReader();
  readonly #dedup = new FlowDedup();
  readonly #unique: UniqueDestinations | undefined;
  readonly #tallies: Tallies;
  readonly #rollup: FlowRollup;
  readonly #log: FlowLog;
  readonly #observer: IngestObserver;
  readonly #enrich: ReturnType<typeof createEnricher>;
  readonly #trust: ReturnType<typeof createReporterTrust>;
  readonly #direct: ((flow: EnrichedFlow) => void) | undefined;
  readonly #rolledUp: boolean;
  readonly #series: EarlySeries;
  readonly #waitsUntilMs: number;
  #flushedMs: number;
  #stretchEndsMs = 0;
  #sinceLook = 0;

  constructor(deps: FlowIntakeDeps) {
    const { options, scope, clock, devices } = deps;
    const { flow } = options.cardinality;
    this.#deps = deps;
    this.#series = new EarlySeries(scope, { awaited: deps.awaitsDevices ?? false });
    this.#tallies = new Tallies(this.#series);
    this.#log = createFlowLog(scope, flowlogsSection.of(options));
    this.#observer = createIngestObserver({ scope, clock }, { enabled: options.selfObservability });
    const identityDims = flow.identityDims && flow.nodeDims;
    this.#enrich = createEnricher(devices, {
      collapseExternal: flow.collapseExternal,
      reverseNames: deps.reverseNames,
      places: flow.geoDims || this.#log.mode === "per_connection" ? deps.places : undefined,
      identity: identityDims || this.#log.mode === "per_connection" || deps.store !== undefined,
    });
    this.#trust = createReporterTrust(devices, flowlogsSection.of(options));
    this.#rollup = new FlowRollup({
      nodeDims: flow.nodeDims,
      identityDims,
      geoDims: flow.geoDims,
    });
    this.#rolledUp = flow.metricsMode !== "all";
    this.#unique = this.#rolledUp && flow.nodeDims ? new UniqueDestinations() : undefined;
    this.#direct =
      flow.metricsMode === "rollup" ? undefined : createDirectTraffic(this.#series, flow);
    this.#flushedMs = clock.monotonic();
    this.#waitsUntilMs = clock.monotonic() + (deps.startWaitMs ?? 0);
    scope.observe(() => this.#flushWhenDue());
  }

  async accept(batch: FlowBatch, signal: AbortSignal): Promise<IntakeReport> {
    const { source, unfinished } = batch;
    const replay = batch.replay && { seen: batch.replay.seen, digests: [] };
    const report = { accepted: 0, refused: {} as Record<string, number> };
    await this.#awaitStart(signal);
    this.#endEarly();
    this.#log.begin(batch.windowEndMs);
    try {
      for (const value of batch.records) {
        if (this.#isDue()) await this.#yieldToLoop();
        signal.throwIfAborted();
        const record = this.#decode(value, source, report);
        if (record !== undefined && (await this.#record(record, { source, replay, unfinished })))
          report.accepted += 1;
      }
    } finally {
      this.#writeTallies();
      // Digests of counted connections are stored even when the rest of the batch failed.
      if (batch.replay !== undefined && replay !== undefined && replay.digests.length > 0)
        await batch.replay.seen.add(replay.digests, batch.replay.untilMs);
    }
    return report;
  }

  async acceptDecoded(
    records: readonly FlowRecord[],
    source: IngestSource,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#awaitStart(signal);
    this.#endEarly();
    this.#log.begin(undefined);
    try {
      for (const record of records) {
        if (this.#isDue()) await this.#yieldToLoop();
        signal.throwIfAborted();
        await this.#record(record, { source });
      }
    } finally {
      this.#writeTallies();
    }
  }

  flush(): void {
    this.#flushedMs = this.#deps.clock.monotonic();
    this.#writeTallies();
    if (this.#rolledUp)
      this.#rollup.flush(
        this.#deps.options.cardinality.flow.rollupTopN,
        createRollupTraffic(this.#series),
      );
    this.#unique?.flush(this.#deps.scope);
  }

  dedupSets(): DedupSetStatus[] {
    return [this.#dedup.status()];
  }

  /** Undefined for a refused record, which is counted. */
  #decode(
    value: unknown,
    source: IngestSource,
    report: { refused: Record<string, number> },
  ): FlowRecord | undefined {
    const record = this.#decoder.decode(value, this.#deps.clock.now());
    if (!("refused" in record)) return record;
    this.#tallies.refused(source, record.refused);
    for (const reason of record.refused) report.refused[reason] = (report.refused[reason] ?? 0) + 1;
    return undefined;
  }

  /** True when the record had a new connection. */
  async #record(record: FlowRecord, origin: Origin): Promise<boolean> {
    this.#suggest(record);
    const facts = this.#factsOf(record);
    const added = await this.#connections(record, facts, origin);
    if (!added.anything) return false;
    this.#tallies.reporter(facts.trust, facts.consistency);
    if (this.#log.mode === "per_record") this.#log.record(added.connections, added.sums, facts);
    this.#observer.accepted(origin.source, "flow", {
      eventMs: (record.end ?? record.start ?? record.logged)?.ms,
      capturedMs: (record.start ?? record.end) && record.logged?.ms,
    });
    return true;
  }

  /** Processes the new connections of a record. */
  async #connections(
    record: FlowRecord,
    facts: ReporterFacts,
    origin: Origin,
  ): Promise<{
    readonly anything: boolean;
    readonly connections: number;
    readonly sums: Counters;
  }> {
    const prefix = recordKey(record);
    // A record without connections is still counted, once.
    if (record.connections.length === 0)
      return {
        anything: this.#dedup.classify(`${prefix}${noConnection}`, nothing, origin) === "new",
        connections: 0,
        sums: nothing,
      };
    const references = referencesOf(record, this.#endpoints);
    const sums = { ...nothing };
    let connections = 0;
    for (const connection of record.connections) {
      const sighting = this.#dedup.classify(connectionKey(prefix, connection), connection, origin);
      if (sighting === "new") {
        connections += 1;
        addTo(sums, connection);
        this.#connection(this.#enrich(connection, references), facts);
      } else if (sighting !== "repeated") this.#tallies.conflict(sighting, connection.type);
      if (this.#isDue()) await this.#yieldToLoop();
    }
    return { anything: connections > 0, connections, sums };
  }

  #connection(flow: EnrichedFlow, facts: ReporterFacts): void {
    const { connection } = flow;
    this.#tallies.connection(connection);
    if (this.#rolledUp) this.#rollup.add(flow);
    this.#unique?.add(flow);
    this.#direct?.(flow);
    if (connection.type === EXIT && this.#deps.options.cardinality.flow.exitNodeAttribution)
      this.#tallies.exit(facts.hostname ?? (facts.record.nodeId || "unknown"), connection);
    if (this.#log.mode === "per_connection") this.#log.connection(flow, facts);
    this.#store(flow, facts);
  }

  #store(flow: EnrichedFlow, facts: ReporterFacts): void {
    const { store, devices } = this.#deps;
    if (store === undefined) return;
    const judgement = store.policy.judge(flow.connection, devices);
    const refusal = store.record(observationOf(flow, facts, judgement));
    if (refusal !== undefined) this.#deps.scope.add(networkStoreDropped, 1, { reason: refusal });
  }

  #factsOf(record: FlowRecord): ReporterFacts {
    const device = this.#deps.devices.byId(record.nodeId);
    return {
      record,
      hostname: device && deviceLabel(device),
      trust: this.#trust(record.nodeId),
      consistency: consistencyOf(record),
    };
  }

  #suggest({ sourceNode, destinationNodes }: FlowRecord): void {
    if (sourceNode !== undefined) this.#suggestOne(sourceNode);
    for (const node of destinationNodes) this.#suggestOne(node);
  }

  #suggestOne({ nodeId, name, addresses }: NodeReference): void {
    this.#deps.devices.suggest({
      nodeId,
      name,
      addresses: addresses.map((text) => this.#endpoints.host(text)?.address ?? text),
    });
  }

  /** Whether the slice is over. Looks at the clock now and then. */
  #isDue(): boolean {
    this.#sinceLook += 1;
    if (this.#sinceLook < LOOK_EVERY) return false;
    this.#sinceLook = 0;
    return this.#deps.clock.monotonic() >= this.#stretchEndsMs;
  }

  async #yieldToLoop(): Promise<void> {
    this.#writeTallies();
    await nextTurn();
    this.#stretchEndsMs = this.#deps.clock.monotonic() + STRETCH_MS;
  }

  #writeTallies(): void {
    this.#tallies.write();
    const withheld = this.#log.withheld();
    if (withheld > 0) this.#tallies.withheld(withheld);
  }

  /** Records before the devices would have provisional names; before the policy, no verdict. */
  async #awaitStart(signal: AbortSignal): Promise<void> {
    const { devices, store, awaitsDevices = false, awaitsPolicy = false } = this.#deps;
    if (awaitsDevices && !devices.isKnown) await this.#awaitOne(devices.known, signal);
    if (awaitsPolicy && store?.policy.isSettled === false)
      await this.#awaitOne(store.policy.settled, signal);
  }

  async #awaitOne(first: Promise<void>, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const timeoutMs = this.#waitsUntilMs - clock.monotonic();
    if (timeoutMs <= 0) return;
    await waitFor(first, { clock, timeoutMs, signal });
    signal.throwIfAborted();
  }

  /** Once devices are known, provisional series end, including sums not yet flushed. */
  #endEarly(): void {
    if (!this.#series.remembers || !this.#deps.devices.isKnown) return;
    this.flush();
    this.#series.end();
    this.#unique?.end(this.#deps.scope);
  }

  #flushWhenDue(): void {
    this.#endEarly();
    if (this.#deps.clock.monotonic() - this.#flushedMs >= this.#deps.metricIntervalMs * EARLY)
      this.flush();
    else this.#writeTallies();
  }
}

function addTo(
  sums: { -readonly [K in keyof Counters]: number },
  { txBytes, rxBytes, txPackets, rxPackets }: Counters,
): void {
  sums.txBytes += txBytes;
  sums.rxBytes += rxBytes;
  sums.txPackets += txPackets;
  sums.rxPackets += rxPackets;
}
