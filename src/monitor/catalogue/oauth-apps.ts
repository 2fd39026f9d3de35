/** Metrics of the monitor: OAuth applications. */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../kernel/telemetry/types.ts";
import { ageSeconds } from "./bounds.ts";

export const oauthAppNodeAttributes = defineMetric({
  name: "vpn.oauth_app.node_attributes",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.oauth_app.id", "vpn.oauth_app.name"],
  group: "OAuth Apps",
  help: "Node attributes an application may set, when any.",
});
export const oauthAppRedirectUris = defineMetric({
  name: "vpn.oauth_app.redirect_uris",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.oauth_app.id", "vpn.oauth_app.name"],
  group: "OAuth Apps",
  help: "Redirect URIs of an application, when any.",
});
export const oauthAppScopeClass = defineMetric({
  name: "vpn.oauth_app.scope_class",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.oauth_app.id", "vpn.oauth_app.name", "vpn.oauth_app.scope_class"],
  group: "OAuth Apps",
  help: "State set over none, read, all_read, write, all per application.",
});
export const oauthAppScopes = defineMetric({
  name: "vpn.oauth_app.scopes",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.oauth_app.id", "vpn.oauth_app.name"],
  group: "OAuth Apps",
  help: "Scopes of an application having any.",
});
export const oauthAppsAge = defineMetric({
  name: "vpn.oauth_apps.age",
  kind: "histogram",
  unit: "s",
  bounds: ageSeconds,
  group: "OAuth Apps",
  help: "Age of applications since creation.",
});
export const oauthAppsCount = defineMetric({
  name: "vpn.oauth_apps.count",
  kind: "gauge",
  unit: "1",
  group: "OAuth Apps",
  help: "OAuth applications registered.",
});

export const oauthAppsMetrics: readonly AnyRow[] = catalogue([
  oauthAppNodeAttributes,
  oauthAppRedirectUris,
  oauthAppScopeClass,
  oauthAppScopes,
  oauthAppsAge,
  oauthAppsCount,
]);
