/** Exports the capability matrix of a network and warns of missing scopes. */
import type { Log } from "../../kernel/base/log.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import { capabilityScopeSatisfied, capabilityStatus } from "../catalogue/api.ts";
import type { CapabilityRow } from "./matrix.ts";
import { apiStates } from "./operation.ts";

/**
 * Sets one gauge per active collector, and whether its scopes suffice where known; series not set
 * again end. Call it before each snapshot.
 */
export function reportCapabilities(scope: Scope, rows: readonly CapabilityRow[]): void {
  const sweep = scope.sweep("capability");
  for (const row of rows) {
    if (!row.active) continue;
    if (row.scopeStatus === "satisfied" || row.scopeStatus === "insufficient")
      sweep.gauge(capabilityScopeSatisfied, row.scopeStatus === "satisfied" ? 1 : 0, {
        "vpn.capability": row.capability,
      });
    if (row.subrequest !== undefined) continue;
    for (const state of apiStates)
      sweep.gauge(capabilityStatus, state === row.state ? 1 : 0, {
        "vpn.collector": row.collector,
        "vpn.api.state": state,
      });
  }
  sweep.commit();
}

/** Logs one line for each active row with insufficient scopes. */
export function warnOfScopes(log: Log, rows: readonly CapabilityRow[]): void {
  for (const { active, scopeStatus, collector, subrequest, missingScopes } of rows) {
    if (!active || scopeStatus !== "insufficient") continue;
    log.warn("the configured OAuth scopes do not include the scopes needed", {
      name: subrequest ?? collector,
      missing: missingScopes,
      remedy: "add them to the scopes of the OAuth client, or switch the collector off",
    });
  }
}
