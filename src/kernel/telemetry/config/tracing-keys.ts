/** Keys of tracing. `otlp.traces` configures the export of spans. */
import { atKey } from "../../config/checks/key-finding.ts";
import { defineKey, type Key, type Schema } from "../../config/key.ts";
import type { Check } from "../../config/load.ts";
import { boolean, decimal, oneOf } from "../../config/values/types.ts";

export const tracingEnabled = defineKey({
  path: "tracing.enabled",
  type: boolean,
  default: false,
  help: "Creates spans for each request, each collector run and each call of a control plane, and exports them by OTLP. Log lines and records within a span carry its trace_id; histograms of runs and calls carry exemplars.",
});

export const tracingSampler: Key<
  "always_on" | "always_off" | "traceidratio" | "parentbased_always_on" | "parentbased_traceidratio"
> = defineKey({
  path: "tracing.sampler",
  type: oneOf([
    "always_on",
    "always_off",
    "traceidratio",
    "parentbased_always_on",
    "parentbased_traceidratio",
  ]),
  default: "parentbased_always_on",
  fallbacks: [{ variable: "OTEL_TRACES_SAMPLER" }],
  help: "Which requests are traced: OpenTelemetry's name of the sampler.",
});

export const tracingSamplerArg = defineKey({
  path: "tracing.sampler_arg",
  type: decimal(0, 1),
  default: 1,
  fallbacks: [{ variable: "OTEL_TRACES_SAMPLER_ARG" }],
  help: "Fraction of requests that the ratio samplers trace.",
});

export const tracingRemoteParent: Key<"trust" | "link" | "ignore"> = defineKey({
  path: "tracing.remote_parent",
  type: oneOf(["trust", "link", "ignore"]),
  default: "trust",
  help: "How the traceparent header of a request is used: trust continues that trace and its sampling decision, link starts a new trace that links to it, ignore does neither.",
});

export const tracingKeys: Schema = [
  tracingEnabled,
  tracingSampler,
  tracingSamplerArg,
  tracingRemoteParent,
];

/** A sampling ratio of 0 with tracing enabled looks like broken tracing. */
export const samplerUsed: Check = {
  needs: [tracingEnabled, tracingSampler, tracingSamplerArg],
  run(config) {
    const sampler = config.get(tracingSampler);
    if (
      !config.get(tracingEnabled) ||
      !["traceidratio", "parentbased_traceidratio"].includes(sampler) ||
      config.get(tracingSamplerArg) !== 0
    )
      return [];
    return [
      atKey(config, tracingSamplerArg, "warning", {
        rule: `is 0, with which the sampler ${sampler} begins no trace`,
        remedy: "write the share of requests to trace, e.g. 0.1, or set tracing.enabled to false.",
      }),
    ];
  },
};
