/**
 * Collector of network settings. A setting the control plane does not report has no sample: a
 * missing scope must not read as "off".
 */
import { defineOperation } from "../capability/operation.ts";
import {
  settingDevicesKeyDuration,
  settingEnabled,
  settingsMetrics,
  settingUsersExternalNetworksRole,
} from "../catalogue/settings.ts";
import type { Settings } from "../providers/model.ts";
import { defineCollector } from "./collector.ts";
import type { Tick } from "./collector.ts";
import { defineSection } from "./section.ts";

/** Also flow logging is one of the settings. */
export const getSettings = defineOperation("getTailnetSettings");

const section = defineSection("settings", {
  collects: "the network's settings",
  intervalSeconds: 600,
});

export const settings = defineCollector({
  section,
  description: "Switches of the network",
  needs: "settings",
  scopes: [["feature_settings:read"]],
  operations: [getSettings],
  emits: settingsMetrics,
  open:
    ({ provider }) =>
    async (tick) =>
      show(await tick.call(getSettings, () => provider.settings(tick.signal)), tick),
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
