/**
 * The telemetry scope of a network: its own resource, and its name on every series unless it has
 * none or privacy hides it.
 */
import { processIdentity } from "../../kernel/telemetry/resource.ts";
import type { Scope, ScopeSpec } from "../../kernel/telemetry/types.ts";
import type { MonitorOptions, NetworkOptions } from "../options.ts";
import { createRedaction } from "../privacy/redaction.ts";
import { networkInstanceId, networkShown } from "../privacy/shown.ts";
import { OWN_NETWORK } from "./network-name.ts";

/** Process settings that affect the scope. */
export type ScopeFacts = Pick<
  MonitorOptions,
  "privacy" | "resource" | "several" | "selfObservability"
>;

const INSTANCE = "service.instance.id";

/** `name` is the network's display name, `id` its unique id in the process. */
export function networkScope(
  facts: ScopeFacts,
  { provider, cardinality, name: id }: NetworkOptions,
  name: string,
): ScopeSpec {
  const { privacy, resource, several, selfObservability } = facts;
  const redact = createRedaction(privacy, provider.kind);
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

// Headscale serves one network, so `-` names nothing.
function isUnnamed({ kind }: NetworkOptions["provider"], name: string): boolean {
  return kind === "headscale" && name === OWN_NETWORK;
}

export type OpenScope = (spec: ScopeSpec) => Scope;
