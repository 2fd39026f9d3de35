/** Operations of the simulated control plane and their scopes, in the vendor's spelling. */
import { createRoutes, type RouteLine, type Routes } from "../routes.ts";

/** The operations, by the names that faults and counters use. */
export type Operation =
  | "token"
  | "token_exchange"
  | "devices"
  | "attributes"
  | "device_invites"
  | "users"
  | "user_invites"
  | "keys"
  | "settings"
  | "acl"
  | "acl_validate"
  | "dns"
  | "contacts"
  | "webhooks"
  | "posture_integrations"
  | "stream_status"
  | "get_stream"
  | "set_stream"
  | "oauth_apps"
  | "services"
  | "service_hosts"
  | "flow_logs"
  | "audit_logs"
  | "unknown";

const TABLE: readonly RouteLine<Operation>[] = [
  ["POST", "/api/v2/oauth/token", "token"],
  ["POST", "/api/v2/oauth/token-exchange", "token_exchange"],
  ["GET", "/api/v2/tailnet/:tailnet/devices", "devices"],
  ["GET", "/api/v2/device/:id/attributes", "attributes"],
  ["GET", "/api/v2/device/:id/device-invites", "device_invites"],
  ["GET", "/api/v2/tailnet/:tailnet/users", "users"],
  ["GET", "/api/v2/tailnet/:tailnet/user-invites", "user_invites"],
  ["GET", "/api/v2/tailnet/:tailnet/keys", "keys"],
  ["GET", "/api/v2/tailnet/:tailnet/settings", "settings"],
  ["GET", "/api/v2/tailnet/:tailnet/acl", "acl"],
  ["POST", "/api/v2/tailnet/:tailnet/acl/validate", "acl_validate"],
  ["GET", "/api/v2/tailnet/:tailnet/dns/configuration", "dns"],
  ["GET", "/api/v2/tailnet/:tailnet/contacts", "contacts"],
  ["GET", "/api/v2/tailnet/:tailnet/webhooks", "webhooks"],
  ["GET", "/api/v2/tailnet/:tailnet/posture/integrations", "posture_integrations"],
  ["GET", "/api/v2/tailnet/:tailnet/logging/:type/stream/status", "stream_status"],
  ["GET", "/api/v2/tailnet/:tailnet/logging/:type/stream", "get_stream"],
  ["PUT", "/api/v2/tailnet/:tailnet/logging/:type/stream", "set_stream"],
  ["GET", "/api/v2/tailnet/:tailnet/oauth-apps", "oauth_apps"],
  ["GET", "/api/v2/tailnet/:tailnet/services", "services"],
  ["GET", "/api/v2/tailnet/:tailnet/services/:name/devices", "service_hosts"],
  ["GET", "/api/v2/tailnet/:tailnet/logging/network", "flow_logs"],
  ["GET", "/api/v2/tailnet/:tailnet/logging/configuration", "audit_logs"],
];

/** The table of the vendor's API, as far as it is simulated. */
export const ROUTES: Routes<Operation> = createRoutes(TABLE);

/** All of them must be granted; within a list one is enough. */
const SCOPES: Readonly<Partial<Record<Operation, readonly (readonly string[])[]>>> = {
  devices: [["devices:core:read"]],
  attributes: [["devices:posture_attributes:read"]],
  device_invites: [["device_invites:read"]],
  users: [["users:read"]],
  user_invites: [["users:read"]],
  keys: [["api_access_tokens:read", "auth_keys:read", "oauth_keys:read", "federated_keys:read"]],
  settings: [
    ["feature_settings:read", "logs:network:read", "networking_settings:read", "policy_file:read"],
  ],
  acl: [["policy_file:read"]],
  acl_validate: [["policy_file:read"]],
  dns: [["dns:read"]],
  contacts: [["account_settings:read"]],
  webhooks: [["webhooks:read"]],
  posture_integrations: [["feature_settings:read"]],
  stream_status: [["log_streaming:read"]],
  get_stream: [["log_streaming:read"]],
  set_stream: [["log_streaming"]],
  oauth_apps: [["oauth_apps:read"]],
  services: [["services:read"]],
  service_hosts: [["services:read"], ["devices:core:read"]],
  flow_logs: [["logs:network:read"]],
  audit_logs: [["logs:configuration:read"]],
};

/** Whether granted scopes cover one that is needed: the same, its writing form, or `all`. */
export function covers(granted: readonly string[], needed: string): boolean {
  if (granted.includes("all") || granted.includes(needed)) return true;
  return (
    needed.endsWith(":read") &&
    (granted.includes("all:read") || granted.includes(needed.slice(0, -":read".length)))
  );
}

/** Whether granted scopes open an operation. */
export function opens(granted: readonly string[], operation: Operation): boolean {
  return (SCOPES[operation] ?? []).every((choice) =>
    choice.some((scope) => covers(granted, scope)),
  );
}

/** Every scope that reading needs: together they open what `all:read` opens. */
export const READ_SCOPES: readonly string[] = [
  ...new Set(
    Object.values(SCOPES)
      .flat(2)
      .filter((scope) => scope.endsWith(":read")),
  ),
];
/** Every scope that some operation needs. */
export const KNOWN_SCOPES: readonly string[] = [
  "all",
  "all:read",
  ...new Set(
    Object.values(SCOPES)
      .flat(2)
      .flatMap((scope) => [scope, scope.replace(/:read$/, "")]),
  ),
];
