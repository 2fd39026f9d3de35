/** Authentication: API keys, OAuth clients with their access tokens, and workload identity. */
import type { Ids } from "../../kernel/base/ids.ts";
import { equalSecrets } from "../../kernel/base/secret.ts";
import { headerOf, json, type Call, type Reply } from "../control-plane/reply.ts";
import { refuseToken } from "./answers.ts";
import { covers, KNOWN_SCOPES } from "./operations.ts";
import type { ApiKey, FederatedClient, OAuthClient } from "./types.ts";

/** Who a request comes from. */
export interface Caller {
  readonly scopes: readonly string[];
  readonly kind: "api" | "client" | "federated";
}

/** The credentials. */
export interface Credentials {
  /** Undefined without valid credentials. */
  caller(call: Call<string>): Caller | undefined;
  /** The token endpoint. */
  token(call: Call<string>): Reply;
  /** The token endpoint for clients of other issuers. */
  exchange(call: Call<string>): Reply;
  revoke(): void;
  client(client: OAuthClient): void;
  removeClient(id: string): void;
}

/** What they are made of. */
export interface CredentialsOptions {
  readonly clients: readonly OAuthClient[];
  readonly apiKeys: readonly ApiKey[];
  readonly federated: readonly FederatedClient[];
  readonly tokenLifetimeMs: number;
}

interface Token extends Caller {
  readonly clientId: string;
  readonly expiresAtMs: number;
}

const MAX_TOKENS = 10_000;
const DEFAULT_SCOPES: readonly string[] = ["all:read"];

/** Tokens beyond 10,000 push the oldest out. */
export function createCredentials(
  ids: Ids,
  { clients, apiKeys, federated, tokenLifetimeMs }: CredentialsOptions,
): Credentials {
  const known = new Map(clients.map((client) => [client.id, client]));
  const keys = new Map(apiKeys.map((each) => [each.key, each]));
  const tokens = new Map<string, Token>();
  const issue = (
    clientId: string,
    scopes: readonly string[],
    kind: Caller["kind"],
    nowMs: number,
  ): Reply => {
    const text = `tskey-api-${ids.base62(17)}-${ids.base62(32)}`;
    tokens.set(text, { clientId, scopes, kind, expiresAtMs: nowMs + tokenLifetimeMs });
    const [oldest] = tokens.keys();
    if (tokens.size > MAX_TOKENS && oldest !== undefined) tokens.delete(oldest);
    return json(
      {
        access_token: text,
        token_type: "Bearer",
        expires_in: Math.floor(tokenLifetimeMs / 1000),
        scope: scopes.join(" "),
      },
      200,
      { "cache-control": "no-store" },
    );
  };
  return {
    caller(call) {
      const shown = shownCredential(call);
      const token = tokens.get(shown);
      if (token !== undefined) return token.expiresAtMs > call.nowMs ? token : undefined;
      const key = keys.get(shown);
      return key !== undefined && (key.expiresAtMs ?? Infinity) > call.nowMs
        ? { scopes: key.scopes ?? ["all"], kind: "api" }
        : undefined;
    },
    token(call) {
      const form = new URLSearchParams(call.body);
      const [id, secret] = basicOf(call) ?? [
        form.get("client_id") ?? "",
        form.get("client_secret") ?? "",
      ];
      if (form.get("grant_type") !== "client_credentials")
        return refuseToken(
          400,
          "unsupported_grant_type",
          "only the client_credentials grant is supported",
        );
      const client = known.get(id);
      if (client === undefined || !equalSecrets(client.secret, secret))
        return refuseToken(
          401,
          "invalid_client",
          client === undefined ? "unknown client" : "client secret does not match",
        );
      const granted = client.scopes ?? DEFAULT_SCOPES;
      const operation = (form.get("scope") ?? "").split(/\s+/).filter((scope) => scope !== "");
      const foreign = operation.find(
        (scope) => !KNOWN_SCOPES.includes(scope) || !covers(granted, scope),
      );
      if (foreign !== undefined)
        return refuseToken(400, "invalid_scope", `scope ${foreign} is not granted to this client`);
      return issue(id, operation.length === 0 ? granted : operation, "client", call.nowMs);
    },
    exchange(call) {
      const form = new URLSearchParams(call.body);
      const client = federated.find(({ id }) => id === form.get("client_id"));
      const jwt = form.get("jwt") ?? "";
      if (client === undefined) return refuseToken(401, "invalid_client", "unknown client");
      if (client.jwt === undefined ? !/^[\w-]+\.[\w-]+\.[\w-]*$/.test(jwt) : jwt !== client.jwt)
        return refuseToken(401, "invalid_client", "token is not accepted");
      return issue(client.id, client.scopes ?? DEFAULT_SCOPES, "federated", call.nowMs);
    },
    revoke() {
      tokens.clear();
      keys.clear();
    },
    client: (client) => void known.set(client.id, client),
    removeClient(id) {
      known.delete(id);
      for (const [text, { clientId }] of tokens) if (clientId === id) tokens.delete(text);
    },
  };
}

// An API key may also be the user name of Basic, with an empty password.
function shownCredential(call: Call<string>): string {
  const [scheme = "", value = ""] = (headerOf(call, "authorization") ?? "").split(" ", 2);
  if (scheme.toLowerCase() === "bearer") return value;
  const [user, password] = basicOf(call) ?? ["", ""];
  return password === "" ? user : "";
}

// RFC 6749 §2.3.1 wants both halves form-encoded.
function basicOf(call: Call<string>): readonly [user: string, password: string] | undefined {
  const header = headerOf(call, "authorization") ?? "";
  if (!/^basic /i.test(header)) return undefined;
  const text = Buffer.from(header.slice(6), "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon < 0
    ? [unescaped(text), ""]
    : [unescaped(text.slice(0, colon)), unescaped(text.slice(colon + 1))];
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", "%20"));
  } catch {
    return text; // Sent as it is, which many clients do.
  }
}
