/**
 * Whether flow logging is switched on at all: said where flow logs do not come by polling, whose
 * collector says it itself.
 */
import { operations } from "../capability/operation.ts";
import { featureEnabled } from "../catalogue/flows.ts";
import { defineCollector } from "./collector.ts";

/** As `vpn.feature` names it. */
export const FLOW_LOGGING = "network_flow_logging";

/** The feature flag of flow logs that are streamed or read from an object store. */
export const flowlogsFeature = defineCollector({
  name: "flowlogs-feature",
  description: "Whether the control plane records network flows",
  key: "flowlogs",
  // The switch is told to whoever may read the log itself.
  capability: "flowlogs",
  scopes: [["logs:network:read"]],
  operations: [operations.settings],
  emits: [featureEnabled],
  options: ({ collectors: { flowlogs } }) =>
    flowlogs === undefined || flowlogs.source === "poll" || flowlogs.source === "both"
      ? undefined
      : flowlogs,
  open:
    ({ provider }) =>
    async (tick) => {
      const settings = await tick.call(operations.settings, () => provider.settings(tick.signal));
      const enabled = settings.switches.get(FLOW_LOGGING);
      if (enabled !== undefined)
        tick.sweep.gauge(featureEnabled, enabled ? 1 : 0, { "vpn.feature": FLOW_LOGGING });
    },
});
