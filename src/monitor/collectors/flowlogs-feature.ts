/**
 * Reports whether flow logging is enabled, for networks whose flow logs are not polled (the polling
 * collector reports it itself).
 */
import { operations } from "../capability/operation.ts";
import { featureEnabled } from "../catalogue/flows.ts";
import { defineCollector } from "./collector.ts";

/** Value of `vpn.feature`. */
export const FLOW_LOGGING = "network_flow_logging";

export const flowlogsFeature = defineCollector({
  name: "flowlogs-feature",
  description: "Whether the control plane records network flows",
  key: "flowlogs",
  // The setting is readable with the permission to read the log.
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
