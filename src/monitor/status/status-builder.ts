/** Builds the status from the networks, the samplers and the process's part. */
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  DeviceCacheSchema,
  NetworkStatusSchema,
  type DeviceCache,
  type NetworkStatus as NetworkRow,
} from "../../gen/steward/monitor/v1/collection_pb.ts";
import { ConfigSummarySchema } from "../../gen/steward/monitor/v1/config_summary_pb.ts";
import type { Fleet } from "../../gen/steward/monitor/v1/export_pb.ts";
import {
  ServiceInfoSchema,
  TlsCertificateSchema,
} from "../../gen/steward/monitor/v1/process_pb.ts";
import {
  HealthProblemSchema,
  StatusSchema,
  type Status,
} from "../../gen/steward/monitor/v1/status_pb.ts";
import {
  DedupSetSchema,
  EventStoreSchema,
  type DedupSet,
  type EventStore,
} from "../../gen/steward/monitor/v1/stores_pb.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import type { CardinalityInfo as ScopeCardinality } from "../../kernel/telemetry/types.ts";
import { schemaVersion } from "../../kernel/wire/style.ts";
import { allCollectors } from "../collectors/all.ts";
import type { MonitorStatus, NetworkStatus } from "../status.ts";
import { apiUsage } from "./rows/api-usage.ts";
import { certificateOf } from "./rows/certificate-row.ts";
import { capabilityOf } from "./rows/capability-rows.ts";
import type { CardinalitySampler } from "./samplers/cardinality-sampler.ts";
import type { CatalogueRows } from "./rows/catalogue-rows.ts";
import { createCollectorRows } from "./rows/collector-rows.ts";
import { createDeviceRows } from "./rows/device-rows.ts";
import { flowStoreOf } from "./rows/flow-store-row.ts";
import { evaluateHealth } from "./health.ts";
import { createConfigPart, serviceInfo } from "./process/process-part.ts";
import type { ProcessStatusClient } from "./process/process-status-client.ts";
import { humanDuration, wholeSeconds } from "./human.ts";
import { geoipOf } from "./rows/geoip-row.ts";
import { reverseDnsOf } from "./rows/reverse-dns-row.ts";
import { nodeDiscovery } from "./rows/node-discovery.ts";
import { seriesCounts } from "./samplers/series-facts.ts";
import { Turns } from "../../kernel/async/turns.ts";

export interface StatusDeps {
  readonly clock: Clock;
  readonly processStatus: ProcessStatusClient;
  /**
   * Whether several networks are configured; collectors are then prefixed with their network's
   * name.
   */
  readonly several: boolean;
  readonly monitor: () => MonitorStatus;
  /** Series of this thread that belong to no network. */
  readonly ownSeries: () => readonly ScopeCardinality[];
  readonly catalogue: () => CatalogueRows;
  readonly cardinality: Pick<CardinalitySampler, "whole" | "network">;
  readonly fleet: () => Fleet;
}

/** Builds the current status. Unchanged parts keep their object identity. */
export function createStatusBuilder(deps: StatusDeps): () => Promise<Status> {
  const collectorRows = createCollectorRows(allCollectors);
  const deviceRows = createDeviceRows();
  const configPart = createConfigPart();
  const startedMs = deps.clock.now();
  const noConfig = create(ConfigSummarySchema);

  async function networkRow(
    network: NetworkStatus,
    nowMs: number,
    turns: Turns,
  ): Promise<NetworkRow> {
    if (turns.over) await turns.give();
    const { id, name, authMethod, failing, collectors } = network;
    const row = create(NetworkStatusSchema, {
      name,
      authMethod: authMethod ?? "",
      failing,
      api: apiUsage([network], nowMs),
      cardinality: deps.cardinality.network(id),
      deviceCache: deviceCacheOf([network]),
      collectors: collectors.map((status) =>
        collectorRows.row(status, deps.several ? name : undefined),
      ),
    });
    // `create` would copy the list, which is recognised by identity.
    row.devices = await deviceRows.of([network.devices], turns);
    return row;
  }

  return async () => {
    const turns = new Turns();
    const { status: processPart, series } = await deps.processStatus.request({ labels: false });
    const nowMs = deps.clock.now();
    const { networks, checkpoints, certificates, events, flows, reverseDns, geoip } =
      deps.monitor();
    const rows: NetworkRow[] = [];
    for (const network of networks) rows.push(await networkRow(network, nowMs, turns));
    const devices = await deviceRows.of(
      networks.map((network) => network.devices),
      turns,
    );
    if (turns.over) await turns.give();
    const catalogue = deps.catalogue();
    const [first] = networks;
    const evaluated = evaluateHealth({
      process: processPart.healthProblems,
      checkpoints: checkpoints.trouble,
      delivery: processPart.delivery,
      networks: networks.map(({ name, failure, collectors }) => ({
        name,
        failure,
        collectors,
        prefix: deps.several ? `${name}/` : "",
      })),
    });
    return Object.assign(create(StatusSchema), {
      ...processPart,
      schemaVersion: schemaVersion(StatusSchema),
      generatedAt: timestampFromMs(nowMs),
      provider: first?.provider ?? processPart.provider,
      health: evaluated.health,
      healthReasons: evaluated.problems.map(({ reason }) => reason),
      healthProblems: evaluated.problems.map((each) => create(HealthProblemSchema, each)),
      capabilities: [...(first?.features ?? [])],
      api: apiUsage(networks, nowMs),
      capabilityMatrix: first?.capabilities.map(capabilityOf) ?? [],
      cardinality: deps.cardinality.whole(),
      collectors: rows.flatMap((row) => row.collectors),
      config: configPart(processPart.config ?? noConfig, checkpoints, networks),
      dedupSets: networks.flatMap((network) => dedupSetsOf(network, deps.several)),
      deviceCache: deviceCacheOf(networks),
      devices,
      eventStore: eventStoreOf(events),
      flowStore: flowStoreOf(flows),
      reverseDns: reverseDnsOf(reverseDns),
      geoip: geoipOf(geoip, nowMs),
      fleet: deps.fleet(),
      logEvents: catalogue.logEvents,
      nodeDiscovery: nodeDiscovery(networks),
      networks: rows,
      metrics: catalogue.metrics(
        seriesCounts(
          [...deps.ownSeries(), ...networks.flatMap(({ cardinality }) => cardinality ?? [])],
          series,
        ),
      ),
      tlsCertificates: [
        ...processPart.tlsCertificates,
        ...certificates.map(({ name, certificate }) =>
          create(TlsCertificateSchema, certificateOf(name, certificate)),
        ),
      ],
      service: serviceInfo(processPart.service ?? create(ServiceInfoSchema), networks, {
        startedMs,
        nowMs,
      }),
    } satisfies Omit<Status, "$typeName" | "$unknown">);
  };
}

function deviceCacheOf(networks: readonly Pick<NetworkStatus, "deviceCache">[]): DeviceCache {
  const ages = networks.flatMap(({ deviceCache }) => deviceCache.ageMs ?? []);
  const devices = networks.reduce((sum, { deviceCache }) => sum + deviceCache.size, 0);
  if (ages.length === 0) return create(DeviceCacheSchema, { devices });
  const ageMs = Math.max(...ages);
  return create(DeviceCacheSchema, {
    devices,
    ageSeconds: wholeSeconds(ageMs),
    age: humanDuration(ageMs),
  });
}

function eventStoreOf(events: MonitorStatus["events"]): EventStore {
  if (events === undefined) return create(EventStoreSchema);
  const { capacity, retained, recorded, evicted } = events;
  return create(EventStoreSchema, {
    enabled: true,
    capacity,
    retained,
    recorded: BigInt(recorded),
    evicted: BigInt(evicted),
  });
}

function dedupSetsOf({ name: network, dedupSets }: NetworkStatus, several: boolean): DedupSet[] {
  return dedupSets.map(({ name, size, capacity }) =>
    create(DedupSetSchema, { name: several ? `${network}/${name}` : name, len: size, capacity }),
  );
}
