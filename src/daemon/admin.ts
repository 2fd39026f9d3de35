/**
 * The admin surface in the house: where it is served, who may see it, and what is counted of those
 * who may not.
 */
import type { AdminRefusal } from "../../gateway/access/admin-refusal.ts";
import type { AuthOptions } from "../../gateway/access/authorize.ts";
import type { Surface } from "../../gateway/access/surface.ts";
import {
  adminEnabled,
  adminLandingPage,
  adminListen,
  adminToken,
} from "../kernel/config/admin-keys.ts";
import type { Config } from "../kernel/config/config.ts";
import type { Scope } from "../kernel/telemetry/types.ts";
import { adminAuthRejected } from "../monitor/catalogue/publishing.ts";
import { tellsOfItself } from "./telemetry-options.ts";

/** What the configuration says of it to the gateway. */
export interface AdminPlace {
  /** What of it all the gateway answers for. */
  readonly surface: Surface;
  /** Whether the status page and what belongs to it is served. */
  readonly landing: boolean;
  readonly auth: Pick<AuthOptions, "adminToken">;
}

/** The admin surface as configured: on the gateway, on a listener of its own, or nowhere. */
export function adminPlace(config: Config): AdminPlace {
  const token = config.get(adminToken);
  return {
    surface: config.get(adminEnabled) && config.get(adminListen) === undefined ? "all" : "house",
    landing: config.get(adminLandingPage),
    auth: token === undefined ? {} : { adminToken: token },
  };
}

/** Counts refusals by their reason, where the process tells of itself. */
export function countAdminRefusals(config: Config, scope: Scope): (reason: AdminRefusal) => void {
  const counts = tellsOfItself(config);
  return (reason) => {
    if (counts) scope.add(adminAuthRejected, 1, { reason });
  };
}
