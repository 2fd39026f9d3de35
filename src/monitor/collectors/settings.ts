/**
 * Collector of network settings. A setting the control plane does not report has no sample: a
 * missing scope must not read as "off".
 */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import { defineOperation } from "../capability/operation.ts";
import type { Settings } from "../providers/model.ts";
import { defineCollector } from "./collector.ts";
import type { Tick } from "./collector.ts";
import { defineSection } from "./section.ts";

const settingDevicesKeyDuration = defineMetric({
  name: "vpn.setting.devices_key_duration",
  kind: "gauge",
  unit: "d",
  group: "Settings",
  help: "Default node key lifetime in days.",
});
const settingEnabled = defineMetric({
  name: "vpn.setting.enabled",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.setting.name"],
  group: "Settings",
  help: "1 or 0 per named boolean network setting.",
});
const settingUsersExternalNetworksRole = defineMetric({
  name: "vpn.setting.users_external_networks_role",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.setting.role"],
  group: "Settings",
  help: "Constant 1 with the role allowed to join other networks.",
});

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
  emits: catalogue([settingDevicesKeyDuration, settingEnabled, settingUsersExternalNetworksRole]),
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
