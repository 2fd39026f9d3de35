/**
 * Privacy category of each attribute. Attributes not listed here are hidden only if their value is
 * an address.
 */
import type { NetworkOptions, PrivacyCategory } from "../options.ts";
import type { AddressCategory } from "./address-class.ts";

export type ProviderKind = NetworkOptions["provider"]["kind"];

/** Categories that apply to whole attributes. */
type AttributeCategory = Exclude<PrivacyCategory, AddressCategory>;

/**
 * Rule of an attribute: a category; `address` for the class of the address in it; `node` for the
 * same, with `hostnames` for other values.
 */
export type AttributeRule = AttributeCategory | "address" | "node";

/** An id in Tailscale, a user's name or mail address in Headscale. */
export const KEY_OWNER = "vpn.key.owner";

const byRule: Readonly<Partial<Record<AttributeRule, readonly string[]>>> = {
  emails: [
    "vpn.user",
    "vpn.src.user",
    "vpn.dst.user",
    "user.name",
    "vpn.webhook.actor",
    "vpn.webhook.user",
    "vpn.webhook.node.managed_by",
    "vpn.k8s.user",
  ],
  user_display_names: ["user.full_name"],
  user_ids: ["user.id", KEY_OWNER],
  hostnames: ["host.name", "vpn.node.hostname", "vpn.webhook.node.device.name", "vpn.k8s.src_node"],
  node: ["vpn.src.node", "vpn.dst.node", "vpn.exit_node", "vpn.node"],
  node_ids: [
    "host.id",
    "vpn.node.id",
    "vpn.webhook.node.id",
    "vpn.k8s.src_node_id",
    "vpn.k8s.recorder",
  ],
  address: ["source.address", "destination.address", "vpn.dns.resolver.address"],
  service_addrs: ["vpn.service.name"],
  endpoint_paths: ["endpoint", "vpn.endpoint", "url.full", "vpn.webhook.url", "vpn.k8s.path"],
  network_topology: ["vpn.route.cidr", "vpn.dns.resolver.domain", "vpn.dns.search_path.domain"],
  network_name: ["vpn.network"],
  free_text_details: [
    "vpn.audit.old",
    "vpn.audit.new",
    "vpn.audit.details",
    "vpn.device.posture.details",
    "error.message",
    "vpn.target.name",
    "vpn.key.description",
    "vpn.oauth_app.name",
    "value",
    "vpn.acl.rule",
    "vpn.k8s.object_name",
    "vpn.k8s.label_selector",
    "vpn.k8s.field_selector",
    "vpn.k8s.pod",
    "vpn.k8s.container",
    "exception.message",
    "exception.stacktrace",
  ],
  command_text: ["vpn.k8s.command"],
};

const rules: ReadonlyMap<string, AttributeRule> = new Map(
  Object.entries(byRule).flatMap(([rule, names]) =>
    names.map((name) => [name, rule as AttributeRule] as const),
  ),
);

/** Undefined for an unlisted attribute. */
export function ruleOf(attribute: string): AttributeRule | undefined {
  return rules.get(attribute);
}

/** A second category that hides an attribute; undefined for most. */
export function secondCategoryOf(
  attribute: string,
  provider: ProviderKind | undefined,
): AttributeCategory | undefined {
  if (attribute === KEY_OWNER && provider === "headscale") return "emails";
  // A recorder is a node named by its id.
  return attribute === "vpn.k8s.recorder" ? "hostnames" : undefined;
}

/**
 * Attributes that identify a gauge's series. A gauge with all of them hidden is dropped, since
 * series would collide.
 */
export const identityAttributes: ReadonlySet<string> = new Set([
  "host.name",
  "host.id",
  "vpn.node.hostname",
  "vpn.node.id",
  "vpn.exit_node",
  "vpn.node",
  "vpn.dns.resolver.address",
  "vpn.dns.resolver.domain",
  "vpn.src.node",
  "vpn.dst.node",
  "vpn.service.name",
  "vpn.dns.search_path.domain",
  "user.id",
  "user.name",
  KEY_OWNER,
  // Never hidden: identifies a key's gauges, e.g. its expiry, without naming its owner.
  "vpn.key.id",
]);

/** Records whose body is free text. */
export const freeTextBodies: ReadonlySet<string> = new Set([
  "vpn.device.network_lock_error",
  "vpn.logstream.error",
  "vpn.webhook",
]);
