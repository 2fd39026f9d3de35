/** Collector of network flow logs, read in overlapping windows, since records may appear late. */
import { toStewardError } from "../../kernel/base/errors.ts";
import { failureOf } from "../../kernel/client/failure.ts";
import { defineOperation } from "../capability/operation.ts";
import {
  exitNodeIo,
  exitNodePackets,
  featureEnabled,
  networkDataQuality,
  networkDedupConflicts,
  networkFieldObservations,
  networkFlowLogsDropped,
  networkFlows,
  networkIo,
  networkIoRollup,
  networkPackets,
  networkPacketsRollup,
  networkReporterObservations,
  networkUniqueDstPeers,
  networkUniqueDstPorts,
} from "../catalogue/flows.ts";
import { networkFlowRecord } from "../catalogue/records.ts";
import { overlapMark, type CappedDigests, type NetworkMemory } from "../checkpoints/types.ts";
import { UnfinishedWindow } from "../ingest/unfinished-window.ts";
import type { FlowLogOptions, NetworkOptions } from "../options.ts";
import type { TimeWindow } from "../providers/model.ts";
import { defineWindowCollector } from "./collector.ts";
import type { CollectorDeps, Tick } from "./collector.ts";
import { FLOW_LOGGING } from "./flowlogs-feature.ts";
import { eachBatch } from "./log-batches.ts";
import { flowlogsSection, isPolled } from "./log-sections.ts";
import { getSettings } from "./settings.ts";

/** Name of the stored digests of replayed connections, and of the mark of its overlap. */
const REPLAY = "flowlogs";

/** 403 means not licensed. */
const listFlowLogs = defineOperation("listNetworkFlowLogs", [403]);

export const flowlogs = defineWindowCollector({
  section: flowlogsSection,
  description: "Connections between nodes, by window of time",
  namesDevices: true,
  needs: "flowLogs",
  scopes: [["logs:network:read"]],
  operations: [getSettings, listFlowLogs],
  emits: [
    featureEnabled,
    networkFlows,
    networkIo,
    networkPackets,
    networkIoRollup,
    networkPacketsRollup,
    networkUniqueDstPeers,
    networkUniqueDstPorts,
    exitNodeIo,
    exitNodePackets,
    networkFieldObservations,
    networkReporterObservations,
    networkDataQuality,
    networkDedupConflicts,
    networkFlowLogsDropped,
  ],
  records: [networkFlowRecord],
  select: (options) => (isPolled(options) ? options : undefined),
  window: ({ lagMs, initialLookbackMs, maxWindowMs, replayOverlapMs }) => ({
    lagMs,
    initialLookbackMs,
    maxWindowMs,
    overlapMs: replayOverlapMs,
  }),
  open(deps, options) {
    const noteEvictions = createEvictionNotes(deps, options);
    const unfinished = new UnfinishedWindow();
    const readIfOn = async (tick: Tick, window: TimeWindow): Promise<void> => {
      const enabled = await isLoggingOn(deps, tick);
      if (enabled !== undefined) reportFeature(tick, enabled);
      if (enabled === false) return;
      try {
        await readWindow({ ...deps, unfinished }, options, tick, window);
      } catch (error) {
        // Not licensed or disabled: retrying this window would never succeed.
        if (!listFlowLogs.disabledBy.includes(failureOf(error)?.status ?? 0)) throw error;
        return reportFeature(tick, false);
      } finally {
        await noteEvictions();
      }
      reportFeature(tick, true);
    };
    return (tick, window) => unfinished.read(window, tick, () => readIfOn(tick, window));
  },
});

/** Undefined when unknown; then the log itself is read. */
async function isLoggingOn({ provider }: CollectorDeps, tick: Tick): Promise<boolean | undefined> {
  try {
    const settings = await tick.call(getSettings, () => provider.settings(tick.signal));
    return settings.switches.get(FLOW_LOGGING);
  } catch {
    tick.signal.throwIfAborted();
    return undefined;
  }
}

async function readWindow(
  {
    provider,
    flows,
    memory,
    unfinished,
  }: CollectorDeps & { readonly unfinished: UnfinishedWindow },
  { replayOverlapMs, replaySeenCapacity }: FlowLogOptions,
  tick: Tick,
  window: TimeWindow,
): Promise<void> {
  // A digest is kept as long as its window may be read again, by the wall clock.
  const replay =
    replayOverlapMs > 0
      ? {
          replay: {
            seen: memory.seen(REPLAY, replaySeenCapacity),
            untilMs: Math.max(window.toMs, tick.nowMs) + replayOverlapMs,
          },
        }
      : {};
  await eachBatch(tick, listFlowLogs, provider.flowLogs(window, tick.signal), (records) =>
    flows.accept(
      { records, source: "poll", windowEndMs: window.toMs, unfinished, ...replay },
      tick.signal,
    ),
  );
}

/** Digests of replayed connections; undefined while nothing is read again. */
function replayDigests(memory: NetworkMemory, network: NetworkOptions): CappedDigests | undefined {
  const options = flowlogsSection.of(network);
  return options !== undefined && isPolled(options) && options.replayOverlapMs > 0
    ? memory.seen(REPLAY, options.replaySeenCapacity)
    : undefined;
}

/**
 * After a window: when digests were evicted whose connections could still be read again, warns, and
 * stores from where on nothing is forgotten.
 */
function createEvictionNotes(
  { memory, log, options, report }: CollectorDeps,
  { lagMs, replayOverlapMs, replaySeenCapacity }: FlowLogOptions,
): () => Promise<void> {
  let counted = 0;
  let isEvicting = false;
  return async () => {
    const digests = replayDigests(memory, options);
    if (digests === undefined) return;
    const { count, untilMs } = digests.evictedEarly;
    const added = count - counted;
    counted = count;
    report?.({ replayEvictions: count });
    if (added === 0 || untilMs === undefined) return void (isEvicting = false);
    if (!isEvicting)
      log.warn(
        "more flows in the overlap than can be remembered: less is read again, and records that appear late may be missed",
        {
          capacity: replaySeenCapacity,
          remedy:
            "raise collectors.flowlogs.replay_seen_capacity, or shorten collectors.flowlogs.replay_overlap",
        },
      );
    isEvicting = true;
    try {
      // Windows end `lag` before the time they are read at, so this is the end of the last one with
      // an evicted digest, or after it.
      await memory.marks.set(overlapMark(REPLAY), untilMs - replayOverlapMs - lagMs);
    } catch (error) {
      log.warn("cannot store where the overlap of flow logs begins; flows may be counted twice", {
        error: toStewardError(error),
      });
    }
  };
}

function reportFeature(tick: Tick, enabled: boolean): void {
  tick.sweep.gauge(featureEnabled, enabled ? 1 : 0, { "vpn.feature": FLOW_LOGGING });
}
