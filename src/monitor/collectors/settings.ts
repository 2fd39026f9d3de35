/**
 * Collector of network settings. A setting the control plane does not report has no sample: a
 * missing scope must not read as "off".
 */
import { operations } from "../capability/operation.ts";
import {
  settingDevicesKeyDuration,
  settingEnabled,
  settingsMetrics,
  settingUsersExternalNetworksRole,
} from "../catalogue/settings.ts";
import type { Settings } from "../providers/model.ts";
import { defineCollector } from "./collector.ts";
import type { Tick } from "./collector.ts";

export const settings = defineCollector({
  name: "settings",
  description: "Switches of the network",
  capability: "settings",
  scopes: [["feature_settings:read"]],
  operations: [operations.settings],
  emits: settingsMetrics,
  options: ({ collectors }) => collectors.settings,
  open:
    ({ provider }) =>
    async (tick) =>
      show(await tick.call(operations.settings, () => provider.settings(tick.signal)), tick),
});

function show(
  { switches, externalLinkSet, keyDurationDays, externalNetworksRole }: Settings,
  { sweep }: Tick,
): void {
  for (const [name, on] of switches)
    sweep.gauge(settingEnabled, Number(on), { "vpn.setting.name": name });
  if (externalLinkSet !== undefined)
    sweep.gauge(settingEnabled, Number(externalLinkSet), {
      "vpn.setting.name": "acls_external_link_set",
    });
  if (keyDurationDays !== undefined) sweep.gauge(settingDevicesKeyDuration, keyDurationDays, {});
  if (externalNetworksRole !== undefined)
    sweep.gauge(settingUsersExternalNetworksRole, 1, { "vpn.setting.role": externalNetworksRole });
}
