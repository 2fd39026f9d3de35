/** Provider of a self-hosted Headscale. */
import { StewardError } from "../../../kernel/base/errors.ts";
import { bearer } from "../../../kernel/client/authorizers.ts";
import { receiveSecret } from "../../../kernel/threads/secrets.ts";
import type { HeadscaleOptions } from "../../options.ts";
import { baseOf, bucketOf, connect } from "../connection.ts";
import type { Fields } from "../decode/fields.ts";
import type { ProviderDeps } from "../deps.ts";
import type { Capability, Provider } from "../provider.ts";
import { type Reader, readList } from "../read.ts";
import { apiKeyOf, deviceOf, preAuthKeyOf, userOf } from "./decode.ts";
import { readPolicy } from "./policy.ts";

const NAME = "headscale";

const OFFERED: ReadonlySet<Capability> = new Set(["devices", "users", "keys", "acl"]);

/** Makes no request yet. Throws `invalid` for an unusable address. */
export function createHeadscale(options: HeadscaleOptions, deps: ProviderDeps): Provider {
  const client = connect(
    {
      name: NAME,
      base: baseOf(options.url, NAME),
      auth: bearer(receiveSecret(options.apiKey)),
      http: options.http,
      bucket: bucketOf(options.http, deps),
      bodyBytes: options.maxResponseBytes,
      bodyKey: "headscale.max_response_bytes",
    },
    deps,
  );
  const reader: Reader = { name: NAME, client, log: deps.log };
  function read<T>(
    operation: string,
    member: string,
    decode: (json: Fields, nowMs: number) => T,
    signal: AbortSignal,
  ): Promise<readonly T[]> {
    const nowMs = deps.clock.now();
    return readList(
      reader,
      { operation, path: `/api/v1/${operation}`, at: [member] },
      (json) => decode(json, nowMs),
      signal,
    );
  }
  return {
    kind: "headscale",
    granted: { method: "apikey", scopes: undefined },
    supports: (capability) => OFFERED.has(capability),
    ...absent,
    devices: (signal) => read("node", "nodes", deviceOf, signal),
    users: (signal) => read("user", "users", userOf, signal),
    keys: async (signal) => [
      ...(await read("preauthkey", "preAuthKeys", preAuthKeyOf, signal)),
      ...(await read("apikey", "apiKeys", apiKeyOf, signal)),
    ],
    policy: (signal) => readPolicy(reader, signal),
    networkName: () => Promise.resolve(undefined),
    status: () => client.status(),
    close: () => client.close(),
  };
}

function unsupported(): Promise<never> {
  return Promise.reject(
    new StewardError("unsupported", "Headscale does not provide this", {
      rule: "provider",
      remedy: "switch the collector off for this network",
    }),
  );
}

async function* unsupportedList(): AsyncGenerator<never, void, undefined> {
  yield await unsupported();
}

type Absent = Omit<
  Provider,
  | "kind"
  | "granted"
  | "supports"
  | "devices"
  | "users"
  | "keys"
  | "policy"
  | "networkName"
  | "status"
  | "close"
>;

const absent: Absent = {
  devicePosture: unsupported,
  deviceInvites: unsupported,
  userInvites: unsupported,
  settings: unsupported,
  validatePolicy: unsupported,
  dns: unsupported,
  contacts: unsupported,
  webhooks: unsupported,
  postureIntegrations: unsupported,
  logStream: unsupported,
  oauthApps: unsupported,
  services: unsupported,
  serviceHosts: unsupported,
  flowLogs: unsupportedList,
  auditLogs: unsupportedList,
};
