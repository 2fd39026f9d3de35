/**
 * Collector of the control plane's own log streaming. Upstream values are running totals; our
 * counters grow by their increase.
 */
import { failureOf } from "../../kernel/client/failure.ts";
import type { Row } from "../../kernel/telemetry/types.ts";
import { defineOperation } from "../capability/operation.ts";
import type { Operation } from "../capability/operation.ts";
import {
  logstreamBytesSent,
  logstreamConfigured,
  logstreamEntriesSent,
  logstreamError,
  logstreamLastActivity,
  logstreamMaxBodyRequests,
  logstreamRequests,
  logstreamRequestsFailed,
  logstreamSpoofedEntries,
  logStreamingMetrics,
} from "../catalogue/log-streaming.ts";
import { logstreamErrorRecord } from "../catalogue/records.ts";
import type { LogStreamStatus, LogStreamType } from "../providers/model.ts";
import { defineCollector } from "./collector.ts";
import type { CollectorDeps, Tick } from "./collector.ts";
import { defineSection } from "./section.ts";
import { createRunningTotals } from "./running-totals.ts";
import type { RunningTotals } from "./running-totals.ts";
import { createTargetCheck, type TargetCheck } from "./log-stream-target.ts";
import { unixSeconds } from "./units.ts";

type Total =
  | "bytesSent"
  | "entriesSent"
  | "requests"
  | "failedRequests"
  | "spoofedEntries"
  | "maxBodyRequests";

const counters: Readonly<Record<Total, Row<"vpn.logstream.type", "counter">>> = {
  bytesSent: logstreamBytesSent,
  entriesSent: logstreamEntriesSent,
  requests: logstreamRequests,
  failedRequests: logstreamRequestsFailed,
  spoofedEntries: logstreamSpoofedEntries,
  maxBodyRequests: logstreamMaxBodyRequests,
};
const totalNames = Object.keys(counters) as readonly Total[];

const streams: readonly (readonly [LogStreamType, Operation])[] = [
  ["configuration", defineOperation("getLogStreamingStatus.configuration")],
  ["network", defineOperation("getLogStreamingStatus.network")],
];

const section = defineSection("log_stream", {
  collects: "the state of log streaming",
  intervalSeconds: 600,
});

export const logStream = defineCollector({
  section,
  name: "logstream",
  description: "How the control plane delivers its logs to others",
  needs: "logStream",
  scopes: [["log_streaming:read"]],
  operations: streams.map(([, operation]) => operation),
  emits: logStreamingMetrics,
  records: [logstreamErrorRecord],
  open: (deps) => {
    const totals = createRunningTotals({
      capacity: streams.length * totalNames.length,
      keepRounds: Number.POSITIVE_INFINITY,
    });
    const compare = createTargetCheck(deps);
    return (tick) => collect(deps, { totals, compare }, tick);
  },
});

const MISSING = Symbol("missing");

interface Kept {
  readonly totals: RunningTotals;
  readonly compare: TargetCheck | undefined;
}

/** Fetches every type even when one fails; then rejects with the first failure. */
async function collect(deps: CollectorDeps, { totals, compare }: Kept, tick: Tick): Promise<void> {
  const failures: unknown[] = [];
  for (const [type, operation] of streams) {
    try {
      const status = await tick
        .call(operation, () => deps.provider.logStream(type, tick.signal))
        .catch(missing);
      show(type, status === MISSING ? undefined : status, deps, totals, tick);
      if (compare === undefined) continue;
      const compared = (): Promise<void> => compare(type, tick.signal);
      // A comparison that succeeds does not make the operation `supported` after a 404.
      await (status === MISSING ? compared() : tick.call(operation, compared));
    } catch (error) {
      tick.signal.throwIfAborted();
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** The result of a call that failed with 404: no stream of the type was ever set up. */
function missing(error: unknown): typeof MISSING {
  if (failureOf(error)?.status === 404) return MISSING;
  throw error;
}

function show(
  type: LogStreamType,
  status: LogStreamStatus | undefined,
  { scope }: CollectorDeps,
  totals: RunningTotals,
  { sweep }: Tick,
): void {
  const labels = { "vpn.logstream.type": type };
  sweep.gauge(logstreamConfigured, Number(status !== undefined), labels);
  if (status === undefined) return;
  if (status.lastActivityMs !== undefined)
    sweep.gauge(logstreamLastActivity, unixSeconds(status.lastActivityMs), labels);
  sweep.gauge(logstreamError, Number(status.lastError !== ""), labels);
  if (status.lastError !== "") scope.log(logstreamErrorRecord, status.lastError, labels);
  for (const name of totalNames) {
    const added = totals.growth(`${type} ${name}`, status[name]);
    if (added > 0) scope.add(counters[name], added, labels);
  }
}
