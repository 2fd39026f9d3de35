/** Metrics of the monitor: posture integrations (facts, metric catalogue). */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow, Row } from "../../kernel/telemetry/types.ts";

/** 1 when the last sync reported an error. */
export const postureIntegrationError: Row<"vpn.posture.provider" | "vpn.posture.integration", "gauge"> = defineMetric({ name: "vpn.posture_integration.error", kind: "gauge", unit: "1", attributes: ["vpn.posture.provider", "vpn.posture.integration"], group: "Posture", help: "1 when the last sync reported an error." });
/** Time of the last sync attempt; skipped before the first. */
export const postureIntegrationLastSync: Row<"vpn.posture.provider" | "vpn.posture.integration", "gauge"> = defineMetric({ name: "vpn.posture_integration.last_sync", kind: "gauge", unit: "s", attributes: ["vpn.posture.provider", "vpn.posture.integration"], group: "Posture", help: "Time of the last sync attempt; skipped before the first." });
/** Devices matched by the integration. */
export const postureIntegrationMatched: Row<"vpn.posture.provider" | "vpn.posture.integration", "gauge"> = defineMetric({ name: "vpn.posture_integration.matched", kind: "gauge", unit: "1", attributes: ["vpn.posture.provider", "vpn.posture.integration"], group: "Posture", help: "Devices matched by the integration." });
/** Devices that might be matched. */
export const postureIntegrationPossibleMatched: Row<"vpn.posture.provider" | "vpn.posture.integration", "gauge"> = defineMetric({ name: "vpn.posture_integration.possible_matched", kind: "gauge", unit: "1", attributes: ["vpn.posture.provider", "vpn.posture.integration"], group: "Posture", help: "Devices that might be matched." });
/** Hosts known to the posture provider. */
export const postureIntegrationProviderHosts: Row<"vpn.posture.provider" | "vpn.posture.integration", "gauge"> = defineMetric({ name: "vpn.posture_integration.provider_hosts", kind: "gauge", unit: "1", attributes: ["vpn.posture.provider", "vpn.posture.integration"], group: "Posture", help: "Hosts known to the posture provider." });
/** Posture integrations configured; 0 when the API answers 404. */
export const postureIntegrationsCount: Row<never, "gauge"> = defineMetric({ name: "vpn.posture_integrations.count", kind: "gauge", unit: "1", group: "Posture", help: "Posture integrations configured; 0 when the API answers 404." });

/** All rows of this file. */
export const postureMetrics: readonly AnyRow[] = catalogue([
  postureIntegrationError, postureIntegrationLastSync, postureIntegrationMatched, postureIntegrationPossibleMatched, postureIntegrationProviderHosts,
  postureIntegrationsCount,
]);
