/**
 * Credential of the hosted control plane: a fixed API key, or access tokens that are fetched and
 * renewed.
 */
import { assert } from "../../../kernel/base/errors.ts";
import { bearer, refreshing } from "../../../kernel/client/authorizers.ts";
import type { Authorizer, OperationStatus } from "../../../kernel/client/types.ts";
import { receiveSecret } from "../../../kernel/threads/secrets.ts";
import { connect } from "../connection.ts";
import type { ProviderDeps } from "../deps.ts";
import type { TailscaleAuth, TailscaleOptions } from "../../options.ts";
import type { Granted } from "../provider.ts";
import { clientCredentials, type FetchToken, tokenExchange, type TokenParts } from "./tokens.ts";

/** Tokens are renewed this long before they expire. */
const EARLY_MS = 10_000;
const TOKEN_BYTES = 64 * 1024;

export interface Credential {
  readonly auth: Authorizer;
  readonly granted: Granted;
  /** State of the token endpoint. */
  status(): readonly OperationStatus[];
  close(): Promise<void>;
}

/** Fetches nothing until needed. */
export function createCredential(
  options: TailscaleOptions,
  base: URL,
  deps: ProviderDeps,
): Credential {
  const { auth } = options;
  assert(auth !== undefined, "a control plane without a credential is not called");
  const granted = {
    method: auth.method,
    scopes: auth.method === "oauth" ? auth.scopes : undefined,
  };
  if (auth.method === "apikey")
    return {
      auth: bearer(receiveSecret(auth.key)),
      granted,
      status: () => [],
      close: () => Promise.resolve(),
    };
  // The call that needs the token already retries; retrying here too would multiply token requests.
  const once = { ...options.http, maxAttempts: 1, rateLimit: 0 };
  const header: TokenParts["header"] = { value: undefined };
  const sender: Authorizer = {
    authorization: () => Promise.resolve(header.value),
    refused: () => false,
  };
  const client = connect(
    {
      name: "tailscale",
      base,
      auth: sender,
      http: once,
      bucket: undefined,
      bodyBytes: TOKEN_BYTES,
    },
    deps,
  );
  const { timeoutMs } = options.http;
  return {
    auth: refreshing(
      {
        fetch: fetchOf(auth, { client, clock: deps.clock, header }),
        earlyMs: EARLY_MS,
        fetchMs: timeoutMs,
      },
      deps.clock,
    ),
    granted,
    status: () => client.status(),
    close: () => client.close(),
  };
}

function fetchOf(
  auth: Exclude<TailscaleAuth, { method: "apikey" }>,
  parts: TokenParts,
): FetchToken {
  return auth.method === "oauth"
    ? clientCredentials(
        {
          clientId: auth.clientId,
          clientSecret: receiveSecret(auth.clientSecret),
          scopes: auth.scopes,
        },
        parts,
      )
    : tokenExchange(auth, parts);
}
