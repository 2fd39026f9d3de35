/** Metrics of the monitor: keys, tokens and OAuth clients. */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../kernel/telemetry/types.ts";
import { ageSeconds } from "./bounds.ts";

export const keyAllowedTags = defineMetric({
  name: "vpn.key.allowed_tags",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.key.id", "vpn.key.type", "vpn.key.description", "vpn.key.owner"],
  group: "Keys",
  help: "Number of tags a client credential is limited to; 0 is unrestricted.",
  when: "cardinality.per_entity.key",
});
export const keyExpiry = defineMetric({
  name: "vpn.key.expiry",
  kind: "gauge",
  unit: "s",
  attributes: [
    "vpn.key.id",
    "vpn.key.type",
    "vpn.key.auth_kind",
    "vpn.key.description",
    "vpn.key.owner",
    "vpn.key.tags",
  ],
  group: "Keys",
  help: "Expiry time of a key that is valid and expires.",
  when: "cardinality.per_entity.key",
});
export const keyPreauthorized = defineMetric({
  name: "vpn.key.preauthorized",
  kind: "gauge",
  unit: "1",
  attributes: [
    "vpn.key.id",
    "vpn.key.type",
    "vpn.key.description",
    "vpn.key.owner",
    "vpn.key.tags",
  ],
  group: "Keys",
  help: "1 when an auth key is preauthorized.",
  when: "cardinality.per_entity.key",
});
export const keyScopeClass = defineMetric({
  name: "vpn.key.scope_class",
  kind: "gauge",
  unit: "1",
  attributes: [
    "vpn.key.id",
    "vpn.key.type",
    "vpn.key.description",
    "vpn.key.owner",
    "vpn.key.scope_class",
  ],
  group: "Keys",
  help: "State set over none, read, all_read, write, all for a credential with scopes.",
  when: "cardinality.per_entity.key",
});
export const keyScopes = defineMetric({
  name: "vpn.key.scopes",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.key.id", "vpn.key.type", "vpn.key.description", "vpn.key.owner"],
  group: "Keys",
  help: "Number of scopes of a credential having any.",
  when: "cardinality.per_entity.key",
});
export const keyTagScope = defineMetric({
  name: "vpn.key.tag_scope",
  kind: "gauge",
  unit: "1",
  attributes: [
    "vpn.key.id",
    "vpn.key.type",
    "vpn.key.description",
    "vpn.key.owner",
    "vpn.key.tag_scope",
  ],
  group: "Keys",
  help: "State set over none and restricted for client credentials.",
  when: "cardinality.per_entity.key",
});
export const keysAge = defineMetric({
  name: "vpn.keys.age",
  kind: "histogram",
  unit: "s",
  bounds: ageSeconds,
  group: "Keys",
  help: "Age of keys since creation.",
});
export const keysByOwner = defineMetric({
  name: "vpn.keys.by_owner",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.key.owner", "vpn.key.type"],
  group: "Keys",
  help: "Keys per owning user and type; ownerless keys skipped.",
});
export const keysCount = defineMetric({
  name: "vpn.keys.count",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.key.type", "vpn.key.auth_kind", "vpn.key.revoked", "vpn.key.invalid"],
  group: "Keys",
  help: "Keys by type, auth kind, revoked and invalid.",
});

export const keysMetrics: readonly AnyRow[] = catalogue([
  keyAllowedTags,
  keyExpiry,
  keyPreauthorized,
  keyScopeClass,
  keyScopes,
  keyTagScope,
  keysAge,
  keysByOwner,
  keysCount,
]);
