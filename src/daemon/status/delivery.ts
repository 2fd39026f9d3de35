/**
 * Export results for the status: delivered, failed and dropped items per signal, and throughput.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  Signal as SignalWord,
  type DeliverySchema,
  type ThroughputSchema,
} from "../../gen/steward/monitor/v1/export_pb.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import {
  emptySignalLedger,
  signals,
  type Signal,
  type SignalLedger,
} from "../../kernel/telemetry/status.ts";
import type { Telemetry } from "../../kernel/telemetry/telemetry.ts";
import { takeSamples } from "./samples.ts";

const MILLISECONDS = 1_000;
/** This many consecutive failures are an outage. */
const FAILING = 3;
const WORDS = {
  metrics: SignalWord.METRICS,
  logs: SignalWord.LOGS,
  traces: SignalWord.TRACES,
} as const;

export interface DeliveryView extends Disposable {
  /** Always three rows: metrics, logs, traces. */
  delivery(): MessageInitShape<typeof DeliverySchema>[];
  throughput(): MessageInitShape<typeof ThroughputSchema>;
}

/** Follows telemetry's counters until disposed. */
export function followDelivery(
  clock: Clock,
  telemetry: Pick<Telemetry, "status" | "onObserved">,
): DeliveryView {
  const lastMs = new Map<Signal, number>();
  const observed = telemetry.onObserved((seen) => {
    for (const one of seen)
      if (one.of === "export") lastMs.set(one.signal, Math.round(one.seconds * MILLISECONDS));
  });
  const ledger = (signal: Signal): SignalLedger =>
    telemetry.status().ledger?.signals[signal] ?? emptySignalLedger;
  const samples = takeSamples<Rates>(clock, (before) => {
    const now = {
      atMs: clock.monotonic(),
      points: handed(ledger("metrics")),
      records: handed(ledger("logs")),
    };
    // A restarted telemetry thread counts from zero.
    const perSecond = (of: "points" | "records"): number =>
      before === undefined
        ? 0
        : (Math.max(0, now[of] - before[of]) * MILLISECONDS) / Math.max(1, now.atMs - before.atMs);
    return { ...now, pointsPerSec: perSecond("points"), recordsPerSec: perSecond("records") };
  });
  return {
    delivery: () => signals.map((signal) => rowOf(signal, ledger(signal), lastMs.get(signal) ?? 0)),
    throughput() {
      const taken = samples.list();
      return {
        metricPoints: BigInt(handed(ledger("metrics"))),
        logRecords: BigInt(handed(ledger("logs"))),
        metricPointsPerSec: taken.at(-1)?.pointsPerSec ?? 0,
        logRecordsPerSec: taken.at(-1)?.recordsPerSec ?? 0,
        metricPointsPerSecSeries: taken.map(({ pointsPerSec }) => pointsPerSec),
        logRecordsPerSecSeries: taken.map(({ recordsPerSec }) => recordsPerSec),
      };
    },
    [Symbol.dispose]() {
      observed[Symbol.dispose]();
      samples[Symbol.dispose]();
    },
  };
}

interface Rates {
  readonly atMs: number;
  readonly points: number;
  readonly records: number;
  readonly pointsPerSec: number;
  readonly recordsPerSec: number;
}

/** Items handed to a receiver, delivered or rejected. */
function handed({ items, itemsLost }: SignalLedger): number {
  return items + itemsLost;
}

function rowOf(
  signal: Signal,
  {
    requests,
    failures,
    consecutiveFailures,
    lastFailureClass,
    partialSuccesses,
    lastSuccessMs,
    lastFailureMs,
  }: SignalLedger,
  lastDurationMs: number,
): MessageInitShape<typeof DeliverySchema> {
  return {
    signal: WORDS[signal],
    exports: BigInt(requests),
    failures: BigInt(failures),
    consecutiveFailures,
    lastDurationMs,
    failing: consecutiveFailures >= FAILING,
    lastErrorClass: lastFailureClass ?? (partialSuccesses > 0 ? "partial_success" : ""),
    ...(lastSuccessMs === undefined ? {} : { lastSuccessAt: timestampFromMs(lastSuccessMs) }),
    ...(lastFailureMs === undefined ? {} : { lastFailureAt: timestampFromMs(lastFailureMs) }),
  };
}
