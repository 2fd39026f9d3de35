/** Collectors in the status. */
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  CollectorMetricSchema,
  CollectorSchema,
  FreshnessState,
  type Collector as CollectorRow,
  type CollectorMetric,
} from "../../../gen/steward/monitor/v1/collection_pb.ts";
import type { Collector } from "../../collectors/collector.ts";
import type { CollectorStatus } from "../../runner/collector-runner.ts";
import type { Freshness } from "../../runner/freshness.ts";
import { humanDuration, wholeSeconds } from "../human.ts";

const freshnessStates: Readonly<Record<Freshness, FreshnessState>> = {
  ok: FreshnessState.OK,
  warning: FreshnessState.WARNING,
  stale: FreshnessState.STALE,
  none: FreshnessState.NONE,
};

export interface CollectorRows {
  /** `network` is shown when there are several. */
  row(status: CollectorStatus, network: string | undefined): CollectorRow;
}

/** Collects description and metrics of each collector. */
export function createCollectorRows(collectors: readonly Collector[]): CollectorRows {
  const metrics = new Map<string, CollectorMetric[]>(
    collectors.map(({ name, emits }) => [name, metricsOf(emits)]),
  );
  return {
    row: (status, network) =>
      create(CollectorSchema, {
        ...runsOf(status),
        name: status.name,
        description: status.description,
        metrics: metrics.get(status.name) ?? [],
        ...(network === undefined ? {} : { network }),
        intervalSeconds: wholeSeconds(status.intervalMs),
        overdue: status.overdue,
        ...(status.checkpoint === undefined ? {} : { checkpoint: checkpointOf(status.checkpoint) }),
        freshnessState: freshnessStates[status.freshness],
        freshnessSeconds: BigInt(wholeSeconds(status.freshnessMs ?? 0)),
        freshness: status.freshnessMs === undefined ? "" : humanDuration(status.freshnessMs),
        nextRunInSeconds: wholeSeconds(status.nextRunInMs),
        nextRunIn: status.last === undefined ? "" : humanDuration(status.nextRunInMs),
      }),
  };
}

function metricsOf(emits: Collector["emits"]): CollectorMetric[] {
  return emits
    .toSorted((left, right) => (left.name < right.name ? -1 : 1))
    .map(({ name, help }) => create(CollectorMetricSchema, { name, description: help }));
}

function runsOf({
  runs,
  failures,
  consecutiveFailures,
  last,
  lastSuccessMs,
  recent,
}: CollectorStatus): Partial<Omit<CollectorRow, "$typeName" | "$unknown">> {
  return {
    hasRun: last !== undefined,
    runs: BigInt(runs),
    failures: BigInt(failures),
    consecutiveFailures,
    successRatePct: runs === 0 ? 0 : ((runs - failures) / runs) * 100,
    durationMsSeries: recent.map(({ tookMs }) => Math.round(tookMs)),
    outcomeSeries: recent.map(({ ok }) => ok),
    ...(lastSuccessMs === undefined ? {} : { lastSuccessAt: timestampFromMs(lastSuccessMs) }),
    ...(last === undefined
      ? {}
      : {
          lastStartedAt: timestampFromMs(last.startedMs),
          lastFinishedAt: timestampFromMs(last.finishedMs),
          lastDurationMs: Math.round(last.tookMs),
          lastSuccess: last.error === undefined,
          lastError: last.error ?? "",
        }),
  };
}

function checkpointOf({ markMs, lagMs, stuck }: NonNullable<CollectorStatus["checkpoint"]>): {
  highWaterMark: ReturnType<typeof timestampFromMs>;
  lagSeconds: bigint;
  lag: string;
  stuck: boolean;
} {
  return {
    highWaterMark: timestampFromMs(markMs),
    lagSeconds: BigInt(wholeSeconds(lagMs)),
    lag: humanDuration(lagMs),
    stuck,
  };
}
