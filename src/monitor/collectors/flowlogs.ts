/**
 * Network flow logs, window after window. A part of each window is read again, for records may
 * appear late.
 */
import { failureOf } from "../../kernel/client/failure.ts";
import { operations } from "../capability/operation.ts";
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
import type { FlowLogOptions } from "../options.ts";
import type { TimeWindow } from "../providers/provider.ts";
import { defineWindowCollector } from "./collector.ts";
import type { CollectorDeps, Tick } from "./collector.ts";
import { FLOW_LOGGING } from "./flowlogs-feature.ts";
import { eachBatch } from "./log-batches.ts";

/** The name under which digests of replayed connections are remembered. */
const REPLAY = "flowlogs";

/** The collector of polled flow logs. */
export const flowlogs = defineWindowCollector<FlowLogOptions>({
  name: "flowlogs",
  description: "Connections between nodes, by window of time",
  namesDevices: true,
  capability: "flowlogs",
  scopes: [["logs:network:read"]],
  operations: [operations.settings, operations.flowLogs],
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
  options: ({ collectors: { flowlogs } }) =>
    flowlogs?.source === "poll" || flowlogs?.source === "both" ? flowlogs : undefined,
  window: ({ lagMs, initialLookbackMs, maxWindowMs, replayOverlapMs }) => ({
    lagMs,
    initialLookbackMs,
    maxWindowMs,
    overlapMs: replayOverlapMs,
  }),
  open: (deps, options) => async (tick, window) => {
    const enabled = await isLoggingOn(deps, tick);
    if (enabled !== undefined) tellFeature(tick, enabled);
    if (enabled === false) return;
    try {
      await readWindow(deps, options, tick, window);
    } catch (error) {
      // Not licensed or switched off: nothing will ever come of this window, and trying it again
      // would never end.
      if (!operations.flowLogs.disabledBy.includes(failureOf(error)?.status ?? 0)) throw error;
      return tellFeature(tick, false);
    }
    tellFeature(tick, true);
  },
});

/**
 * Undefined when it could not be found out, or the control plane does not say: then the log itself
 * is asked.
 */
async function isLoggingOn({ provider }: CollectorDeps, tick: Tick): Promise<boolean | undefined> {
  try {
    const settings = await tick.call(operations.settings, () => provider.settings(tick.signal));
    return settings.switches.get(FLOW_LOGGING);
  } catch {
    tick.signal.throwIfAborted();
    return undefined;
  }
}

async function readWindow(
  { provider, flows, memory }: CollectorDeps,
  { replayOverlapMs, replaySeenCapacity }: FlowLogOptions,
  tick: Tick,
  window: TimeWindow,
): Promise<void> {
  // A digest is needed as long as its window may be read again: by our clock, for a window that is
  // caught up with ended long ago.
  const replay =
    replayOverlapMs > 0
      ? {
          replay: {
            seen: memory.seen(REPLAY, replaySeenCapacity),
            untilMs: Math.max(window.toMs, tick.nowMs) + replayOverlapMs,
          },
        }
      : {};
  await eachBatch(tick, operations.flowLogs, provider.flowLogs(window, tick.signal), (records) =>
    flows.accept({ records, source: "poll", windowEndMs: window.toMs, ...replay }, tick.signal),
  );
}

function tellFeature(tick: Tick, enabled: boolean): void {
  tick.sweep.gauge(featureEnabled, enabled ? 1 : 0, { "vpn.feature": FLOW_LOGGING });
}
