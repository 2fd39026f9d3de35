/** Metrics of the monitor: webhook endpoints of the control plane. */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../kernel/telemetry/types.ts";
import { ageSeconds } from "./bounds.ts";

export const webhookEndpointAge = defineMetric({
  name: "vpn.webhook_endpoint.age",
  kind: "histogram",
  unit: "s",
  bounds: ageSeconds,
  group: "Webhooks",
  help: "Age of endpoints since creation.",
});
export const webhookEndpointSubscriptions = defineMetric({
  name: "vpn.webhook_endpoint.subscriptions",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.webhook_endpoint.id", "vpn.webhook_endpoint.provider"],
  group: "Webhooks",
  help: "Subscribed event types of an endpoint.",
  when: "cardinality.per_entity.webhook",
});
export const webhookEndpointsCount = defineMetric({
  name: "vpn.webhook_endpoints.count",
  kind: "gauge",
  unit: "1",
  group: "Webhooks",
  help: "Webhook endpoints configured; 0 when the API answers 404.",
});
export const webhookEndpointsDesiredUnrecognized = defineMetric({
  name: "vpn.webhook_endpoints.desired_unrecognized",
  kind: "gauge",
  unit: "1",
  group: "Webhooks",
  help: "Desired entries that are not known event types.",
  when: "collectors.webhooks.desired_events non-empty",
});
export const webhookEndpointsEventDesiredCovered = defineMetric({
  name: "vpn.webhook_endpoints.event_desired_covered",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.webhook.event"],
  group: "Webhooks",
  help: "1 when a desired event type has a subscriber.",
  when: "collectors.webhooks.desired_events non-empty",
});
export const webhookEndpointsEventSubscriptions = defineMetric({
  name: "vpn.webhook_endpoints.event_subscriptions",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.webhook.event"],
  group: "Webhooks",
  help: "Endpoints subscribed per event type; 18 known types plus other, zero-seeded.",
});

export const webhooksMetrics: readonly AnyRow[] = catalogue([
  webhookEndpointAge,
  webhookEndpointSubscriptions,
  webhookEndpointsCount,
  webhookEndpointsDesiredUnrecognized,
  webhookEndpointsEventDesiredCovered,
  webhookEndpointsEventSubscriptions,
]);
