/** Provider of a self-hosted Headscale. */
import { bearer } from "../../../kernel/client/authorizers.ts";
import { receiveSecret } from "../../../kernel/threads/secrets.ts";
import type { HeadscaleOptions } from "../../options.ts";
import { baseOf, bucketOf, connect } from "../connection.ts";
import type { Fields } from "../decode/fields.ts";
import type { ProviderDeps } from "../deps.ts";
import type { Provider, ProviderCalls } from "../provider.ts";
import { type Reader, readList } from "../read.ts";
import { apiKeyOf, deviceOf, preAuthKeyOf, userOf } from "./decode.ts";
import { unsupportedCalls } from "../unsupported.ts";
import { type headscaleOffers, offersCall } from "./offered.ts";
import { readPolicy } from "./policy.ts";

const NAME = "headscale";

type Offered = Pick<ProviderCalls, (typeof headscaleOffers)[number]>;

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
  const calls: Offered = {
    devices: (signal) => read("node", "nodes", deviceOf, signal),
    users: (signal) => read("user", "users", userOf, signal),
    keys: async (signal) => [
      ...(await read("preauthkey", "preAuthKeys", preAuthKeyOf, signal)),
      ...(await read("apikey", "apiKeys", apiKeyOf, signal)),
    ],
    policy: (signal) => readPolicy(reader, signal),
  };
  return {
    kind: "headscale",
    granted: { method: "apikey", scopes: undefined },
    supports: offersCall,
    ...unsupportedCalls("Headscale"),
    ...calls,
    networkName: () => Promise.resolve(undefined),
    status: () => client.status(),
    close: () => client.close(),
  };
}
