/** What is known of the types of webhook events: severity, members, and matching audit events. */

/** Types that want attention. */
const warnings: ReadonlySet<string> = new Set([
  "nodeKeyExpired",
  "nodeKeyExpiringInOneDay",
  "nodeNeedsApproval",
  "userNeedsApproval",
  "nodeNeedsAuthorization",
  "nodeNeedsSignature",
  "nodeDeleted",
  "webhookDeleted",
  "userSuspended",
  "userDeleted",
]);

export function severityOf(type: string): "info" | "warn" {
  return warnings.has(type) ? "warn" : "info";
}

/** The version whose members are known. */
export const KNOWN_VERSION = 1;

const node = {
  nodeID: "vpn.webhook.node.id",
  deviceName: "vpn.webhook.node.device.name",
  managedBy: "vpn.webhook.node.managed_by",
  actor: "vpn.webhook.actor",
  url: "vpn.webhook.url",
} as const;
const expiring = { ...node, expiration: "vpn.webhook.key.expiration" } as const;
const change = { actor: "vpn.webhook.actor", url: "vpn.webhook.url" } as const;
const roles = {
  ...change,
  user: "vpn.webhook.user",
  oldRoles: "vpn.webhook.old_roles",
  newRoles: "vpn.webhook.new_roles",
} as const;

/** An attribute of a webhook's log record. */
export type WebhookAttribute =
  | (typeof expiring)[keyof typeof expiring]
  | (typeof roles)[keyof typeof roles];

/** The members of `data` that are exported, by type; nothing else of it is. */
export const exportedMembers: ReadonlyMap<
  string,
  Readonly<Record<string, WebhookAttribute>>
> = new Map<string, Readonly<Record<string, WebhookAttribute>>>([
  ["nodeCreated", node],
  ["nodeNeedsApproval", node],
  ["nodeApproved", node],
  ["nodeKeyExpiringInOneDay", expiring],
  ["nodeKeyExpired", expiring],
  ["nodeDeleted", node],
  ["nodeSigned", node],
  ["nodeNeedsSignature", node],
  ["policyUpdate", change],
  ["userRoleUpdated", roles],
]);

/** Verb and subject of the audit event that reports the same change. Other types have none. */
export const auditCounterparts: ReadonlyMap<string, readonly [verb: string, subject: string]> =
  new Map([
    ["nodeCreated", ["create", "node"]],
    ["nodeDeleted", ["delete", "node"]],
    ["nodeApproved", ["update", "node"]],
    ["nodeAuthorized", ["update", "node"]],
    ["userCreated", ["create", "user"]],
    ["userDeleted", ["delete", "user"]],
  ]);
