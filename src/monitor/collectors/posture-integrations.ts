/** Collector of posture integrations and their last synchronisation. */
import { failureOf } from "../../kernel/client/failure.ts";
import { defineOperation } from "../capability/operation.ts";
import {
  postureIntegrationError,
  postureIntegrationLastSync,
  postureIntegrationMatched,
  postureIntegrationPossibleMatched,
  postureIntegrationProviderHosts,
  postureIntegrationsCount,
  postureMetrics,
} from "../catalogue/posture.ts";
import type { PostureIntegration } from "../providers/model.ts";
import { defineCollector } from "./collector.ts";
import type { CollectorDeps, Tick } from "./collector.ts";
import { defineSection } from "./section.ts";
import { unixSeconds } from "./units.ts";

const listIntegrations = defineOperation("getPostureIntegrations");

const section = defineSection("posture_integrations", {
  collects: "posture integrations",
  intervalSeconds: 600,
});

export const postureIntegrations = defineCollector({
  section,
  description: "How synchronising with posture providers goes",
  needs: "postureIntegrations",
  scopes: [["feature_settings:read"]],
  operations: [listIntegrations],
  emits: postureMetrics,
  open: (deps) => async (tick) => {
    const integrations = await list(deps, tick);
    tick.sweep.gauge(postureIntegrationsCount, integrations.length, {});
    for (const integration of integrations) show(integration, tick);
  },
});

/** Empty where the control plane has no integrations. */
async function list(
  { provider }: CollectorDeps,
  tick: Tick,
): Promise<readonly PostureIntegration[]> {
  try {
    return await tick.call(listIntegrations, () => provider.postureIntegrations(tick.signal));
  } catch (error) {
    if (failureOf(error)?.status === 404) return [];
    throw error;
  }
}

function show(
  { id, provider, lastSyncMs, error, matched, possibleMatched, providerHosts }: PostureIntegration,
  { sweep }: Tick,
): void {
  const labels = { "vpn.posture.provider": provider, "vpn.posture.integration": id };
  if (lastSyncMs !== undefined)
    sweep.gauge(postureIntegrationLastSync, unixSeconds(lastSyncMs), labels);
  sweep.gauge(postureIntegrationError, Number(error !== ""), labels);
  sweep.gauge(postureIntegrationMatched, matched, labels);
  sweep.gauge(postureIntegrationPossibleMatched, possibleMatched, labels);
  sweep.gauge(postureIntegrationProviderHosts, providerHosts, labels);
}
