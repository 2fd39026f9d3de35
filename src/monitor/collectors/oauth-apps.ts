/**
 * Collector of OAuth applications and their permissions. The API is not available to everyone; then
 * nothing is reported.
 */
import { failureOf } from "../../kernel/client/failure.ts";
import { defineOperation } from "../capability/operation.ts";
import {
  oauthAppNodeAttributes,
  oauthAppRedirectUris,
  oauthAppsAge,
  oauthAppScopeClass,
  oauthAppScopes,
  oauthAppsCount,
  oauthAppsMetrics,
} from "../catalogue/oauth-apps.ts";
import { oauthAppInfoRecord } from "../catalogue/records.ts";
import type { OAuthApp } from "../providers/model.ts";
import { defineCollector } from "./collector.ts";
import type { CollectorDeps, Tick } from "./collector.ts";
import { defineSection } from "./section.ts";
import { scopeClass, scopeClasses } from "./scope-class.ts";
import { secondsSince } from "./units.ts";

const listApps = defineOperation("listOAuthApps");

const section = defineSection("oauth_apps", {
  collects: "OAuth applications",
  intervalSeconds: 300,
});

export const oauthApps = defineCollector({
  section,
  description: "OAuth applications and their scopes",
  needs: "oauthApps",
  scopes: [["oauth_apps:read"]],
  operations: [listApps],
  emits: oauthAppsMetrics,
  records: [oauthAppInfoRecord],
  open: (deps) => async (tick) => {
    const apps = await list(deps, tick);
    if (apps === undefined) return;
    tick.sweep.gauge(oauthAppsCount, apps.length, {});
    for (const app of apps) show(app, deps, tick);
  },
});

/** Undefined when the control plane does not offer or permit the call. */
async function list(
  { provider }: CollectorDeps,
  tick: Tick,
): Promise<readonly OAuthApp[] | undefined> {
  try {
    return await tick.call(listApps, () => provider.oauthApps(tick.signal));
  } catch (error) {
    const status = failureOf(error)?.status;
    if (status === 403 || status === 404) return undefined;
    throw error;
  }
}

function show(app: OAuthApp, { scope }: CollectorDeps, { sweep, nowMs }: Tick): void {
  const labels = { "vpn.oauth_app.id": app.id, "vpn.oauth_app.name": app.name };
  if (app.scopes.length > 0) sweep.gauge(oauthAppScopes, app.scopes.length, labels);
  if (app.nodeAttributes.length > 0)
    sweep.gauge(oauthAppNodeAttributes, app.nodeAttributes.length, labels);
  if (app.redirectUris > 0) sweep.gauge(oauthAppRedirectUris, app.redirectUris, labels);
  const highest = scopeClass(app.scopes);
  for (const each of scopeClasses)
    sweep.gauge(oauthAppScopeClass, Number(each === highest), {
      ...labels,
      "vpn.oauth_app.scope_class": each,
    });
  if (app.createdMs !== undefined)
    scope.record(oauthAppsAge, secondsSince(app.createdMs, nowMs), {});
  scope.log(
    oauthAppInfoRecord,
    `OAuth application ${app.id} (${app.name}) with ${app.nodeAttributes.length} node attributes, scopes: ${app.scopes.join(",")}`,
    {
      ...labels,
      "vpn.oauth_app.scope_values": app.scopes.join(","),
      "vpn.oauth_app.node_attribute_count": String(app.nodeAttributes.length),
    },
  );
}
