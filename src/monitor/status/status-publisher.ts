/** Assembles the status API and the samplers behind it. */
import type { BoundService } from "../../kernel/service.ts";
import type { Component } from "../../kernel/supervisor/component.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { CardinalityInfo as ScopeCardinality } from "../../kernel/telemetry/types.ts";
import type { ThreadContext } from "../../kernel/threads/hosted-service.ts";
import { monitorMetrics, monitorRecords } from "../catalogue/monitor-catalogue.ts";
import type { MonitorOptions } from "../options.ts";
import type { ServiceCountsView } from "../presence/types.ts";
import type { MonitorStatus } from "../status.ts";
import type { Thresholds } from "./rows/cardinality-rows.ts";
import { createCardinalitySampler } from "./samplers/cardinality-sampler.ts";
import { createCatalogueRows, type CatalogueRows } from "./rows/catalogue-rows.ts";
import { createFleetSampler } from "./samplers/fleet.ts";
import { PROCESS_STATUS_PORT } from "./process/process-status.ts";
import {
  createProcessStatusClient,
  type ProcessStatusClient,
  type ProcessCatalogue,
} from "./process/process-status-client.ts";
import { createStatusApi } from "./status-api.ts";
import { createStatusBuilder } from "./status-builder.ts";

export interface StatusPublisherDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly monitor: () => MonitorStatus;
  /** Series of this thread that belong to no network. */
  readonly ownSeries: () => readonly ScopeCardinality[];
}

export interface StatusPublisher {
  readonly service: BoundService;
  /** Takes samples while it runs. */
  readonly component: Component;
  /** Counts of the services beside the monitor. */
  counts(): Promise<ServiceCountsView>;
  /** Attaches the process status port, if present. */
  attach(ports: ThreadContext["ports"]): void;
}

const NAME = "status";
/** Used where no network configures thresholds. */
const defaultThresholds: Thresholds = { warningThreshold: 2_000, criticalThreshold: 8_000 };

/** Documents are complete from the start. */
export function createStatusPublisher(
  deps: StatusPublisherDeps,
  options: MonitorOptions,
): StatusPublisher {
  const { clock, log, monitor, ownSeries } = deps;
  const processStatus = createProcessStatusClient(clock);
  const catalogue = catalogueOf(processStatus);
  const thresholds = options.cardinality ?? options.networks[0]?.cardinality ?? defaultThresholds;
  const cardinality = createCardinalitySampler({
    clock,
    log,
    own: ownSeries,
    networks: () => seriesOf(monitor()),
    intervalMs: options.metricIntervalMs,
    enabled: options.selfObservability.enabled,
    processStatus: async () => (await processStatus.request({ labels: true })).series,
    rows: () => ({ thresholds, expositionName: (metric) => catalogue().expositionName(metric) }),
  });
  const fleet = createFleetSampler(clock, () =>
    monitor().networks.flatMap(({ collectors }) => collectors),
  );
  const build = createStatusBuilder({
    clock,
    processStatus,
    several: options.several,
    monitor,
    ownSeries,
    catalogue,
    cardinality,
    fleet: () => fleet.view(),
  });
  const samplers = [fleet, cardinality];
  return {
    service: createStatusApi({ clock, build }),
    component: {
      name: NAME,
      needs: [],
      readiness: "none",
      start: () => Promise.resolve(samplers.forEach((sampler) => sampler.start())),
      stop: () => Promise.resolve(samplers.forEach((sampler) => sampler.stop())),
    },
    counts: () => processStatus.counts(),
    attach(ports) {
      const port = ports[PROCESS_STATUS_PORT];
      if (port !== undefined) processStatus.attach(port);
    },
  };
}

function seriesOf({ networks }: MonitorStatus): Map<string, ScopeCardinality> {
  return new Map(
    networks.flatMap(({ id, cardinality }) =>
      cardinality === undefined ? [] : [[id, cardinality] as const],
    ),
  );
}

/** The monitor's catalogue merged with the process's; rebuilt when the latter changes. */
function catalogueOf(processStatus: ProcessStatusClient): () => CatalogueRows {
  let made: { readonly of: ProcessCatalogue; readonly rows: CatalogueRows } | undefined;
  return () => {
    const current = processStatus.catalogue();
    if (made?.of !== current)
      made = {
        of: current,
        rows: createCatalogueRows(
          [...monitorMetrics, ...current.metrics],
          [...monitorRecords, ...current.records],
        ),
      };
    return made.rows;
  };
}
