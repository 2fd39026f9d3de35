/**
 * Reports whether flow logging is enabled, for networks whose flow logs are not polled (the polling
 * collector reports it itself).
 */
import { featureEnabled } from "../catalogue/flows.ts";
import { defineCollector } from "./collector.ts";
import { flowlogsSection, isPolled } from "./log-sections.ts";
import { getSettings } from "./settings.ts";

/** Value of `vpn.feature`. */
export const FLOW_LOGGING = "network_flow_logging";

export const flowlogsFeature = defineCollector({
  section: flowlogsSection,
  name: "flowlogs-feature",
  countsAs: "flowlogs",
  description: "Whether the control plane records network flows",
  // The setting is readable with the permission to read the log.
  needs: "flowLogs",
  scopes: [["logs:network:read"]],
  operations: [getSettings],
  emits: [featureEnabled],
  select: (options) => (isPolled(options) ? undefined : options),
  open:
    ({ provider }) =>
    async (tick) => {
      const settings = await tick.call(getSettings, () => provider.settings(tick.signal));
      const enabled = settings.switches.get(FLOW_LOGGING);
      if (enabled !== undefined)
        tick.sweep.gauge(featureEnabled, enabled ? 1 : 0, { "vpn.feature": FLOW_LOGGING });
    },
});
