/** Provider of the hosted control plane. */
import { failureOf } from "../../../kernel/client/failure.ts";
import { pathOf } from "../../../kernel/client/url.ts";
import type { TailscaleOptions } from "../../options.ts";
import { baseOf, bucketOf, connect } from "../connection.ts";
import type { ProviderDeps } from "../deps.ts";
import type { Provider } from "../provider.ts";
import { type Reader, readList, readObject } from "../read.ts";
import { createCredential } from "./auth.ts";
import { deviceInviteOf, deviceOf, postureOf } from "./device.ts";
import { type LogEndpoint, readLog, readNetworkName } from "./logs.ts";
import {
  contactsOf,
  dnsOf,
  integrationOf,
  logStreamOf,
  serviceHostOf,
  serviceOf,
  settingsOf,
  webhookOf,
} from "./network.ts";
import { keyOf, oauthAppOf, userInviteOf, userOf } from "./people.ts";
import { readPolicy, validatePolicy } from "./policy.ts";

const NAME = "tailscale";

/** Makes no request yet. Throws `invalid` for an unusable address. */
export function createTailscale(options: TailscaleOptions, deps: ProviderDeps): Provider {
  const base = baseOf(options.url, NAME);
  const bucket = bucketOf(options.http, deps);
  const credential = createCredential(options, base, deps);
  const shared = { name: NAME, base, auth: credential.auth, http: options.http, bucket };
  const client = connect(
    { ...shared, bodyBytes: options.maxResponseBytes, bodyKey: "vpn.max_response_bytes" },
    deps,
  );
  // A separate client, since log responses may be larger than all others.
  const logs = connect(
    { ...shared, bodyBytes: options.maxLogResponseBytes, bodyKey: "vpn.max_log_response_bytes" },
    deps,
  );
  const reader: Reader = { name: NAME, client, log: deps.log };
  const below = (rest: string): string => pathOf`/api/v2/tailnet/${options.network}/` + rest;
  const logAt = (operation: LogEndpoint["operation"]): LogEndpoint => ({
    operation,
    path: below(operation),
  });
  return {
    kind: "tailscale",
    granted: credential.granted,
    supports: () => true,
    ...entities(reader, below),
    ...networkState(reader, below),
    flowLogs: (window, signal) => readLog(logs, logAt("logging/network"), window, signal),
    auditLogs: (window, signal) => readLog(logs, logAt("logging/configuration"), window, signal),
    networkName: (signal) =>
      readNetworkName(logs, logAt("logging/configuration"), deps.clock, signal),
    status: () => [...client.status(), ...logs.status(), ...credential.status()],
    async close() {
      await Promise.all([client.close(), logs.close(), credential.close()]);
    },
  };
}

type Below = (rest: string) => string;
type Entities = Pick<
  Provider,
  | "devices"
  | "devicePosture"
  | "deviceInvites"
  | "users"
  | "userInvites"
  | "keys"
  | "webhooks"
  | "postureIntegrations"
  | "oauthApps"
  | "services"
  | "serviceHosts"
>;

function entities(reader: Reader, below: Below): Entities {
  const at = (operation: string) => ({ operation, path: below(operation) });
  return {
    devices: (signal) =>
      readList(
        reader,
        { ...at("devices"), query: { fields: "all" }, at: ["devices"] },
        deviceOf,
        signal,
      ),
    devicePosture: async (id, signal) =>
      postureOf(
        await readObject(
          reader,
          { operation: "device/attributes", path: pathOf`/api/v2/device/${id}/attributes` },
          signal,
        ),
      ),
    deviceInvites: (id, signal) =>
      readList(
        reader,
        {
          operation: "device/device-invites",
          path: pathOf`/api/v2/device/${id}/device-invites`,
          at: [],
        },
        deviceInviteOf,
        signal,
      ),
    users: (signal) => readList(reader, { ...at("users"), at: ["users"] }, userOf, signal),
    userInvites: (signal) =>
      readList(reader, { ...at("user-invites"), at: [] }, userInviteOf, signal),
    keys: (signal) =>
      readList(reader, { ...at("keys"), query: { all: true }, at: ["keys"] }, keyOf, signal),
    webhooks: (signal) =>
      readList(reader, { ...at("webhooks"), at: ["webhooks"] }, webhookOf, signal),
    postureIntegrations: (signal) =>
      readList(
        reader,
        { ...at("posture/integrations"), at: ["integrations"] },
        integrationOf,
        signal,
      ),
    oauthApps: (signal) =>
      readList(reader, { ...at("oauth-apps"), at: ["oauthApps"] }, oauthAppOf, signal),
    services: (signal) =>
      readList(reader, { ...at("services"), at: ["vipServices"] }, serviceOf, signal),
    serviceHosts: (name, signal) =>
      readList(
        reader,
        {
          operation: "services/devices",
          path: below(pathOf`services/${name}/devices`),
          at: ["hosts"],
        },
        serviceHostOf,
        signal,
      ),
  };
}

type NetworkState = Pick<
  Provider,
  "settings" | "policy" | "validatePolicy" | "dns" | "contacts" | "logStream"
>;

function networkState(reader: Reader, below: Below): NetworkState {
  const readJson = (operation: string, signal: AbortSignal) =>
    readObject(reader, { operation, path: below(operation) }, signal);
  return {
    settings: async (signal) => settingsOf(await readJson("settings", signal)),
    policy: (signal) => readPolicy(reader, below("acl"), signal),
    validatePolicy: (text, signal) => validatePolicy(reader, below("acl/validate"), text, signal),
    dns: async (signal) => dnsOf(await readJson("dns/configuration", signal)),
    contacts: async (signal) => contactsOf(await readJson("contacts", signal)),
    async logStream(type, signal) {
      try {
        return logStreamOf(await readJson(`logging/${type}/stream/status`, signal));
      } catch (error) {
        if (failureOf(error)?.status === 404) return undefined;
        throw error;
      }
    },
  };
}
