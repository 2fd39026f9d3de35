/**
 * The admin API as configured: which listener serves it, who may use it, and the count of refused
 * requests.
 */
import type { AdminRefusal } from "../../../gateway/access/admin-refusal.ts";
import type { AuthOptions } from "../../../gateway/access/authorize.ts";
import type { Surface } from "../../../gateway/access/surface.ts";
import { adminEnabled, adminLandingPage, adminListen, adminToken } from "../config/admin-keys.ts";
import type { Config } from "../../kernel/config/config.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import { adminAuthRejected } from "../../monitor/catalogue/publishing.ts";
import { exportsSelfMetrics } from "../telemetry/telemetry-options.ts";

export interface AdminSurface {
  /** The surfaces that the gateway listener serves. */
  readonly surface: Surface;
  /** Whether the gateway serves the status page and its assets. */
  readonly landing: boolean;
  readonly auth: Pick<AuthOptions, "adminToken">;
}

/** Reads the configuration: the admin API is on the gateway, on its own listener, or off. */
export function adminSurface(config: Config): AdminSurface {
  const token = config.get(adminToken);
  return {
    surface: config.get(adminEnabled) && config.get(adminListen) === undefined ? "all" : "gateway",
    landing: config.get(adminLandingPage),
    auth: token === undefined ? {} : { adminToken: token },
  };
}

/** Counts refusals by reason; a no-op when self-observability is off. */
export function countAdminRefusals(config: Config, scope: Scope): (reason: AdminRefusal) => void {
  const counts = exportsSelfMetrics(config);
  return (reason) => {
    if (counts) scope.add(adminAuthRejected, 1, { reason });
  };
}
