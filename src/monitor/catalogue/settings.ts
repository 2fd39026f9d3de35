/** Metrics of the monitor: switches of the network. */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../kernel/telemetry/types.ts";

export const settingDevicesKeyDuration = defineMetric({
  name: "vpn.setting.devices_key_duration",
  kind: "gauge",
  unit: "d",
  group: "Settings",
  help: "Default node key lifetime in days.",
});
export const settingEnabled = defineMetric({
  name: "vpn.setting.enabled",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.setting.name"],
  group: "Settings",
  help: "1 or 0 per named boolean network setting.",
});
export const settingUsersExternalNetworksRole = defineMetric({
  name: "vpn.setting.users_external_networks_role",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.setting.role"],
  group: "Settings",
  help: "Constant 1 with the role allowed to join other networks.",
});

export const settingsMetrics: readonly AnyRow[] = catalogue([
  settingDevicesKeyDuration,
  settingEnabled,
  settingUsersExternalNetworksRole,
]);
