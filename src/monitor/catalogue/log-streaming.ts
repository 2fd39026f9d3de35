/** Metrics of the monitor: delivery of the control plane's own log streams. */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../kernel/telemetry/types.ts";

export const logstreamBytesSent = defineMetric({
  name: "vpn.logstream.bytes_sent",
  kind: "counter",
  unit: "By",
  attributes: ["vpn.logstream.type"],
  group: "Log streaming",
  help: "Bytes delivered (delta of the upstream total).",
  when: "stream configured",
});
export const logstreamConfigured = defineMetric({
  name: "vpn.logstream.configured",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.logstream.type"],
  group: "Log streaming",
  help: "1 when log streaming of this type is set up.",
});
export const logstreamEntriesSent = defineMetric({
  name: "vpn.logstream.entries_sent",
  kind: "counter",
  unit: "{event}",
  attributes: ["vpn.logstream.type"],
  group: "Log streaming",
  help: "Entries delivered (delta).",
  when: "stream configured",
});
export const logstreamError = defineMetric({
  name: "vpn.logstream.error",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.logstream.type"],
  group: "Log streaming",
  help: "1 when the stream reports a last error.",
  when: "stream configured",
});
export const logstreamLastActivity = defineMetric({
  name: "vpn.logstream.last_activity",
  kind: "gauge",
  unit: "s",
  attributes: ["vpn.logstream.type"],
  group: "Log streaming",
  help: "Time of the last delivery activity.",
  when: "stream configured",
});
export const logstreamMaxBodyRequests = defineMetric({
  name: "vpn.logstream.max_body_requests",
  kind: "counter",
  unit: "{request}",
  attributes: ["vpn.logstream.type"],
  group: "Log streaming",
  help: "Delivery requests that reached the body size limit (delta).",
  when: "stream configured",
});
export const logstreamRequests = defineMetric({
  name: "vpn.logstream.requests",
  kind: "counter",
  unit: "{request}",
  attributes: ["vpn.logstream.type"],
  group: "Log streaming",
  help: "Delivery requests (delta).",
  when: "stream configured",
});
export const logstreamRequestsFailed = defineMetric({
  name: "vpn.logstream.requests_failed",
  kind: "counter",
  unit: "{request}",
  attributes: ["vpn.logstream.type"],
  group: "Log streaming",
  help: "Delivery requests that failed (delta).",
  when: "stream configured",
});
export const logstreamSpoofedEntries = defineMetric({
  name: "vpn.logstream.spoofed_entries",
  kind: "counter",
  unit: "{event}",
  attributes: ["vpn.logstream.type"],
  group: "Log streaming",
  help: "Entries rejected as spoofed (delta).",
  when: "stream configured",
});

export const logStreamingMetrics: readonly AnyRow[] = catalogue([
  logstreamBytesSent,
  logstreamConfigured,
  logstreamEntriesSent,
  logstreamError,
  logstreamLastActivity,
  logstreamMaxBodyRequests,
  logstreamRequests,
  logstreamRequestsFailed,
  logstreamSpoofedEntries,
]);
