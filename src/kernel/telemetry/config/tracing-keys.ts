/** Keys of tracing. `otlp.traces` configures the export of spans. */
import { atKey } from "../../config/checks/key-finding.ts";
import type { Config } from "../../config/config.ts";
import { defineKey, type Key, type Schema } from "../../config/key.ts";
import { defineKeyGroup, keysOf, readKeyGroup, type KeyGroup } from "../../config/key-group.ts";
import type { Check } from "../../config/load.ts";
import type { Finding } from "../../config/findings.ts";
import { boolean, decimal, oneOf } from "../../config/values/types.ts";
import type { Sampling, SamplerName } from "../tracing/tracing.ts";

export const tracingEnabled = defineKey({
  path: "tracing.enabled",
  type: boolean,
  default: false,
  help: "Creates spans for each request, each collector run and each call of a control plane, and exports them by OTLP. Log lines and records within a span carry its trace_id; histograms of runs and calls carry exemplars.",
});

const samplerName = oneOf([
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_traceidratio",
]);

const tracingSampler: Key<SamplerName> = defineKey<SamplerName>({
  path: "tracing.sampler",
  type: samplerName,
  default: "parentbased_always_on",
  fallbacks: [{ variable: "OTEL_TRACES_SAMPLER" }],
  help: "Which requests are traced: OpenTelemetry's name of the sampler. tracing.samplers has others for kinds of work.",
});

const tracingSamplerArg = defineKey({
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

/** Work with a sampler of its own; requests of the gateway have `tracing.sampler`. */
type WorkKind = "scrape" | "receiver" | "background";

interface SamplerKeys {
  readonly sampler: SamplerName | undefined;
  readonly arg: number | undefined;
}

function samplerKeys(kind: WorkKind, work: string): KeyGroup<SamplerKeys> {
  return defineKeyGroup<SamplerKeys>(`tracing.samplers.${kind}`, {
    sampler: {
      type: samplerName,
      default: undefined,
      help: `Which ${work} are traced. Default: tracing.sampler.`,
    },
    arg: {
      type: decimal(0, 1),
      default: undefined,
      help: `Fraction of ${work} that the ratio samplers trace. Default: tracing.sampler_arg.`,
    },
  });
}

const samplers: Readonly<Record<WorkKind, KeyGroup<SamplerKeys>>> = {
  scrape: samplerKeys("scrape", "runs of collectors"),
  receiver: samplerKeys("receiver", "requests of the streaming and the webhook receiver"),
  background: samplerKeys("background", "jobs that no request started"),
};
const kinds = Object.values(samplers);

/** Of requests of the gateway, or of another kind of work. */
export function samplingOf(config: Config, kind?: WorkKind): Sampling {
  const own = kind && readKeyGroup(config, samplers[kind]);
  return {
    sampler: own?.sampler ?? config.get(tracingSampler),
    ratio: own?.arg ?? config.get(tracingSamplerArg),
  };
}

export const tracingKeys: Schema = [
  tracingEnabled,
  tracingSampler,
  tracingSamplerArg,
  tracingRemoteParent,
  ...keysOf(...kinds),
];

/** A sampling ratio of 0 with tracing enabled looks like broken tracing. */
export const samplerUsed: Check = {
  needs: [tracingEnabled, tracingSampler, tracingSamplerArg, ...keysOf(...kinds)],
  run(config) {
    if (!config.get(tracingEnabled)) return [];
    const shared = samplingOf(config);
    const findings = isNothing(shared)
      ? [nothingAt(config, tracingSamplerArg, shared.sampler)]
      : [];
    for (const kind of ["scrape", "receiver", "background"] as const) {
      const { sampler, arg } = samplers[kind];
      const own = samplingOf(config, kind);
      // Without keys of its own the finding above covers it.
      const isOwn = config.get(sampler) !== undefined || config.get(arg) !== undefined;
      if (isOwn && isNothing(own)) findings.push(nothingAt(config, arg, own.sampler));
    }
    return findings;
  },
};

function isNothing({ sampler, ratio }: Sampling): boolean {
  return ratio === 0 && ["traceidratio", "parentbased_traceidratio"].includes(sampler);
}

function nothingAt(config: Config, key: Key<unknown>, sampler: SamplerName): Finding {
  return atKey(config, key, "warning", {
    rule: `is 0, with which the sampler ${sampler} begins no trace`,
    remedy: "write the share of requests to trace, e.g. 0.1, or set tracing.enabled to false.",
  });
}
