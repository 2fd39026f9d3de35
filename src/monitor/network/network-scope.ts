/**
 * The telemetry scope of a network: its own resource, and its name on everything unless it has none
 * or privacy hides it.
 */
import { processIdentity } from "../../kernel/telemetry/resource.ts";
import type { Scope, ScopeSpec } from "../../kernel/telemetry/types.ts";
import type { MonitorOptions, NetworkOptions } from "../options.ts";
import { createRedaction } from "../privacy/redaction.ts";
import { networkInstanceId, networkShown } from "../privacy/shown.ts";
import { OWN_NETWORK } from "./network-name.ts";

/** What of the process decides over the scope of a network. */
export type ScopeFacts = Pick<
  MonitorOptions,
  "privacy" | "resource" | "several" | "selfObservability"
>;

const INSTANCE = "service.instance.id";

/**
 * The scope to be. `name` is what the network is called, `id` what tells it from the others of the
 * process.
 */
export function networkScope(
  facts: ScopeFacts,
  { provider, cardinality, name: id }: NetworkOptions,
  name: string,
): ScopeSpec {
  const { privacy, resource, several, selfObservability } = facts;
  const redact = createRedaction(privacy);
  const instance = selfObservability.instanceId || String(resource[INSTANCE] ?? "");
  return {
    name: `network/${id}`,
    limits: { perMetric: cardinality.metricLimit, labelValues: cardinality.labelValueSampleCap },
    logResource: processIdentity(),
    resource: several
      ? { ...resource, [INSTANCE]: networkInstanceId(instance, name, privacy) }
      : resource,
    constants: {
      ...(networkShown(privacy) && !isUnnamed(provider, name) ? { "vpn.network": name } : {}),
      "svc.provider": provider.kind,
    },
    ...(redact === undefined ? {} : { redact }),
  };
}

// To Headscale there are no networks to choose from, so the placeholder stands for nothing.
function isUnnamed({ kind }: NetworkOptions["provider"], name: string): boolean {
  return kind === "headscale" && name === OWN_NETWORK;
}

/** Opens scopes. */
export type OpenScope = (spec: ScopeSpec) => Scope;
