/** Metrics of the monitor: posture integrations. */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../kernel/telemetry/types.ts";

export const postureIntegrationError = defineMetric({
  name: "vpn.posture_integration.error",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.posture.provider", "vpn.posture.integration"],
  group: "Posture",
  help: "1 when the last sync reported an error.",
});
export const postureIntegrationLastSync = defineMetric({
  name: "vpn.posture_integration.last_sync",
  kind: "gauge",
  unit: "s",
  attributes: ["vpn.posture.provider", "vpn.posture.integration"],
  group: "Posture",
  help: "Time of the last sync attempt; skipped before the first.",
});
export const postureIntegrationMatched = defineMetric({
  name: "vpn.posture_integration.matched",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.posture.provider", "vpn.posture.integration"],
  group: "Posture",
  help: "Devices matched by the integration.",
});
export const postureIntegrationPossibleMatched = defineMetric({
  name: "vpn.posture_integration.possible_matched",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.posture.provider", "vpn.posture.integration"],
  group: "Posture",
  help: "Devices that might be matched.",
});
export const postureIntegrationProviderHosts = defineMetric({
  name: "vpn.posture_integration.provider_hosts",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.posture.provider", "vpn.posture.integration"],
  group: "Posture",
  help: "Hosts known to the posture provider.",
});
export const postureIntegrationsCount = defineMetric({
  name: "vpn.posture_integrations.count",
  kind: "gauge",
  unit: "1",
  group: "Posture",
  help: "Posture integrations configured; 0 when the API answers 404.",
});

export const postureMetrics: readonly AnyRow[] = catalogue([
  postureIntegrationError,
  postureIntegrationLastSync,
  postureIntegrationMatched,
  postureIntegrationPossibleMatched,
  postureIntegrationProviderHosts,
  postureIntegrationsCount,
]);
