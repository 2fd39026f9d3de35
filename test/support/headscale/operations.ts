/** What can be asked of the simulated Headscale. */
import { createRoutes, type RouteLine, type Routes } from "../../../src/demo/routes.ts";

/**
 * The operations, by the names that faults and counters use. `v2_…` exist in the development
 * flavour only.
 */
export type Operation =
  | "nodes"
  | "node"
  | "users"
  | "preauth_keys"
  | "api_keys"
  | "policy"
  | "health"
  | "public_health"
  | "version"
  | "delete_user"
  | "v2_devices"
  | "v2_device"
  | "v2_device_routes"
  | "v2_users"
  | "v2_user"
  | "v2_keys"
  | "v2_settings"
  | "v2_acl"
  | "v2_token"
  | "unknown";

const TABLE: readonly RouteLine<Operation>[] = [
  ["GET", "/health", "public_health"],
  ["GET", "/version", "version"],
  ["GET", "/api/v1/health", "health"],
  ["GET", "/api/v1/node", "nodes"],
  ["GET", "/api/v1/node/:id", "node"],
  ["GET", "/api/v1/user", "users"],
  ["DELETE", "/api/v1/user/:id", "delete_user"],
  ["GET", "/api/v1/preauthkey", "preauth_keys"],
  ["GET", "/api/v1/apikey", "api_keys"],
  ["GET", "/api/v1/policy", "policy"],
  ["GET", "/api/v2/tailnet/:tailnet/devices", "v2_devices"],
  ["GET", "/api/v2/device/:id", "v2_device"],
  ["GET", "/api/v2/device/:id/routes", "v2_device_routes"],
  ["GET", "/api/v2/tailnet/:tailnet/users", "v2_users"],
  ["GET", "/api/v2/users/:id", "v2_user"],
  ["GET", "/api/v2/tailnet/:tailnet/keys", "v2_keys"],
  ["GET", "/api/v2/tailnet/:tailnet/settings", "v2_settings"],
  ["GET", "/api/v2/tailnet/:tailnet/acl", "v2_acl"],
  ["POST", "/api/v2/oauth/token", "v2_token"],
];

/** The table of both flavours. */
export const ROUTES: Routes<Operation> = createRoutes(TABLE);
