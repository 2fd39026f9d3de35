/**
 * The monitor's face: everything that its documents are made of, tied together, with the part of
 * its life that takes samples.
 */
import type { BoundService } from "../../kernel/service.ts";
import type { Component } from "../../kernel/supervisor/component.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { CardinalityInfo as ScopeCardinality } from "../../kernel/telemetry/types.ts";
import type { ThreadContext } from "../../kernel/threads/placed.ts";
import { monitorMetrics } from "../catalogue/metrics.ts";
import { monitorRecords } from "../catalogue/records.ts";
import type { MonitorOptions } from "../options.ts";
import type { MonitorStatus } from "../status.ts";
import type { Thresholds } from "./cardinality-rows.ts";
import { createCardinalitySampler } from "./cardinality-sampler.ts";
import { createCatalogueRows, type CatalogueRows } from "./catalogue-rows.ts";
import { createFleetSampler } from "./fleet.ts";
import { PROCESS_STATUS_PORT } from "./process-status.ts";
import {
  createProcessStatusClient,
  type ProcessStatusClient,
  type ProcessCatalogue,
} from "./process-status-client.ts";
import { createStatusApi } from "./status-api.ts";
import { createStatusBuilder } from "./status-builder.ts";

/** What is shown. */
export interface StatusPublisherDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly monitor: () => MonitorStatus;
  /** Series of this thread that are no network's. */
  readonly ownSeries: () => readonly ScopeCardinality[];
}

/** The documents, and what must live for them. */
export interface StatusPublisher {
  readonly service: BoundService;
  /** Takes samples while it runs. */
  readonly component: Component;
  /** Takes the port to the house among those that the service is given. */
  attach(ports: ThreadContext["ports"]): void;
}

const NAME = "status";
/** Where no network says. */
const defaultThresholds: Thresholds = { warningThreshold: 2_000, criticalThreshold: 8_000 };

/** A face; documents are whole from the beginning. */
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
    processStatus: async () => (await processStatus.ask({ labels: true })).series,
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

/** The monitor's own catalogue and the house's; made again when the house tells another. */
function catalogueOf(processStatus: ProcessStatusClient): () => CatalogueRows {
  let made: { readonly of: ProcessCatalogue; readonly rows: CatalogueRows } | undefined;
  return () => {
    const told = processStatus.catalogue();
    if (made?.of !== told)
      made = {
        of: told,
        rows: createCatalogueRows(
          [...monitorMetrics, ...told.metrics],
          [...monitorRecords, ...told.records],
        ),
      };
    return made.rows;
  };
}
