/** The keys of tracing (facts, monitor-api §8.2, §8.4). Where spans are exported to is `otlp.traces`. */
import { atKey } from "./key-finding.ts";
import { defineKey, type Key, type Schema } from "./key.ts";
import type { Check } from "./load.ts";
import { boolean, decimal, oneOf } from "./types.ts";

/** `tracing.enabled` */
export const tracingEnabled: Key<boolean> = defineKey({ path: "tracing.enabled", type: boolean, default: false, help: "Makes spans and exports them where otlp says: of each request, of each run of a collector, and of each call of a control plane. Log lines and records of a span carry its trace_id, histograms of runs and calls name the latest span of each bucket." });

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

/** Who wants requests traced gets some: a share of nothing looks like tracing that does not work. */
export const samplerUsed: Check = {
  needs: [tracingEnabled, tracingSampler, tracingSamplerArg],
  run(config) {
    const sampler = config.get(tracingSampler);
    if (!config.get(tracingEnabled) || !["traceidratio", "parentbased_traceidratio"].includes(sampler) || config.get(tracingSamplerArg) !== 0) return [];
    return [atKey(config, tracingSamplerArg, "warning", { rule: `is 0, with which the sampler ${sampler} begins no trace`, remedy: "write the share of requests to trace, e.g. 0.1, or set tracing.enabled to false." })];
  },
};
