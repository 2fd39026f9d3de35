/** Metrics of the monitor: the receivers of streams and webhooks. */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../kernel/telemetry/types.ts";

const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

export const streamDecodeErrors = defineMetric({
  name: "vpn.stream.decode_errors",
  kind: "counter",
  unit: "{record}",
  attributes: ["type"],
  group: "Receivers",
  help: "Records of a known type that did not decode.",
  when: "streaming.enabled",
});
export const streamInflight = defineMetric({
  name: "vpn.stream.inflight",
  kind: "updown",
  unit: "{request}",
  group: "Receivers",
  help: "Stream requests in progress.",
  when: "streaming.enabled",
});
export const streamRecords = defineMetric({
  name: "vpn.stream.records",
  kind: "counter",
  unit: "{record}",
  attributes: ["type"],
  group: "Receivers",
  help: "Records accepted by the stream receiver, by type (flow, audit).",
  when: "streaming.enabled",
});
export const streamRejected = defineMetric({
  name: "vpn.stream.rejected",
  kind: "counter",
  unit: "{rejection}",
  attributes: ["reason"],
  group: "Receivers",
  help: "Requests rejected by the stream receiver, by reason.",
  when: "streaming.enabled",
});
export const streamRequestDuration = defineMetric({
  name: "vpn.stream.request.duration",
  kind: "histogram",
  unit: "s",
  bounds: SECONDS,
  group: "Receivers",
  help: "Duration of a stream request.",
  when: "streaming.enabled",
});
export const streamSkipped = defineMetric({
  name: "vpn.stream.skipped",
  kind: "counter",
  unit: "{record}",
  attributes: ["reason"],
  group: "Receivers",
  help: "Records found in a good body and not routed: unclassified, unwrap_drop.",
  when: "streaming.enabled",
});
export const webhookDuplicates = defineMetric({
  name: "vpn.webhook.duplicates",
  kind: "counter",
  unit: "{event}",
  group: "Receivers",
  help: "Webhook events dropped as repeats.",
  when: "webhook.enabled",
});
export const webhookEvents = defineMetric({
  name: "vpn.webhook.events",
  kind: "counter",
  unit: "{event}",
  attributes: ["vpn.webhook.type"],
  group: "Receivers",
  help: "Webhook events accepted, by type.",
  when: "webhook.enabled",
});
export const webhookInflight = defineMetric({
  name: "vpn.webhook.inflight",
  kind: "updown",
  unit: "{request}",
  group: "Receivers",
  help: "Webhook requests in progress.",
  when: "webhook.enabled",
});
export const webhookRejected = defineMetric({
  name: "vpn.webhook.rejected",
  kind: "counter",
  unit: "1",
  attributes: ["reason"],
  group: "Receivers",
  help: "Webhook deliveries rejected, by reason.",
  when: "webhook.enabled",
});
export const webhookRequestDuration = defineMetric({
  name: "vpn.webhook.request.duration",
  kind: "histogram",
  unit: "s",
  bounds: SECONDS,
  group: "Receivers",
  help: "Duration of a webhook request.",
  when: "webhook.enabled",
});
export const webhookSchemaDrift = defineMetric({
  name: "vpn.webhook.schema_drift",
  kind: "counter",
  unit: "{event}",
  attributes: ["field", "status"],
  group: "Receivers",
  help: "Webhook version observations by status.",
  when: "webhook.enabled",
});

export const receiversMetrics: readonly AnyRow[] = catalogue([
  streamDecodeErrors,
  streamInflight,
  streamRecords,
  streamRejected,
  streamRequestDuration,
  streamSkipped,
  webhookDuplicates,
  webhookEvents,
  webhookInflight,
  webhookRejected,
  webhookRequestDuration,
  webhookSchemaDrift,
]);
