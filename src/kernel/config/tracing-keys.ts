/** The keys of tracing (facts, monitor-api §8.2). Where spans are exported to is `otlp.traces`. */
import { defineKey, type Key, type Schema } from "./key.ts";
import { boolean, decimal, oneOf } from "./types.ts";

/** `tracing.enabled` */
export const tracingEnabled: Key<boolean> = defineKey({ path: "tracing.enabled", type: boolean, default: false, help: "Makes a span of each request and exports it where otlp says. Log lines of a traced request carry its trace_id." });

/** `tracing.sampler` */
export const tracingSampler: Key<"always_on" | "always_off" | "traceidratio" | "parentbased_always_on" | "parentbased_traceidratio"> = defineKey({
  path: "tracing.sampler", type: oneOf(["always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_traceidratio"]), default: "parentbased_always_on",
  fallbacks: [{ variable: "OTEL_TRACES_SAMPLER" }], help: "Which requests are traced, in OpenTelemetry's words.",
});

/** `tracing.sampler_arg` */
export const tracingSamplerArg: Key<number> = defineKey({
  path: "tracing.sampler_arg", type: decimal(0, 1), default: 1, fallbacks: [{ variable: "OTEL_TRACES_SAMPLER_ARG" }], help: "Share of requests that the ratio samplers trace.",
});

/** `tracing.remote_parent` */
export const tracingRemoteParent: Key<"trust" | "link" | "ignore"> = defineKey({
  path: "tracing.remote_parent", type: oneOf(["trust", "link", "ignore"]), default: "trust",
  help: "What the traceparent of a request counts: trust goes on with that trace and its decision, link begins one that points to it, ignore does neither.",
});

/** All of the above. */
export const tracingKeys: Schema = [tracingEnabled, tracingSampler, tracingSamplerArg, tracingRemoteParent];
