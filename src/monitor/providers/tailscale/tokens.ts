/**
 * Access tokens: OAuth client credentials (RFC 6749 §4.4) and token exchange of a workload's ID
 * token.
 */
import { open } from "node:fs/promises";
import type { Clock } from "../../../kernel/base/clock.ts";
import { Secret } from "../../../kernel/base/secret.ts";
import type { Granted } from "../../../kernel/client/authorizers.ts";
import { failed, failureClasses, failureOf } from "../../../kernel/client/failure.ts";
import type { Client, Reply } from "../../../kernel/client/types.ts";
import { count, inner, wholeText } from "../decode/fields.ts";

const MAX_FILE_BYTES = 64 * 1024;

/** Lifetime of a token without `expires_in`. */
const DEFAULT_LIFE_S = 3_600;

/** Error codes of RFC 6749 §5.2. */
const CODES: ReadonlySet<string> = new Set([
  "invalid_request",
  "invalid_client",
  "invalid_grant",
  "unauthorized_client",
  "unsupported_grant_type",
  "invalid_scope",
]);

export interface TokenParts {
  readonly client: Client;
  readonly clock: Clock;
  /** Value of the Authorization header, set before each request. Requests run one at a time. */
  readonly header: { value: Secret | undefined };
}

/**
 * Fetches one token. Rejects with class `auth` and `reason` `oauth_<code>` for final errors, else
 * with the client's error.
 */
export type FetchToken = (signal: AbortSignal) => Promise<Granted>;

/** Authenticates in the header first; a server that rejects that is tried once with form fields. */
export function clientCredentials(
  options: {
    readonly clientId: string;
    readonly clientSecret: Secret;
    readonly scopes: readonly string[];
  },
  parts: TokenParts,
): FetchToken {
  const { clientId, clientSecret, scopes } = options;
  const basic = clientSecret.use((secret) =>
    Secret.of(
      `Basic ${Buffer.from(`${formEncoded(clientId)}:${formEncoded(secret)}`).toString("base64")}`,
      clientSecret.origin,
    ),
  );
  const form: Record<string, string> = {
    grant_type: "client_credentials",
    ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
  };
  let way: "header" | "form" = "header";
  const fetchBy = (by: typeof way, signal: AbortSignal): Promise<Granted> =>
    by === "header"
      ? fetchToken(parts, { label: "oauth/token", form, authorization: basic }, signal)
      : clientSecret.use((secret) =>
          fetchToken(
            parts,
            { label: "oauth/token", form: { ...form, client_id: clientId, client_secret: secret } },
            signal,
          ),
        );
  return async (signal) => {
    try {
      return await fetchBy(way, signal);
    } catch (error) {
      if (way === "form" || failureOf(error)?.reason !== "oauth_invalid_client") throw error;
      const granted = await fetchBy("form", signal);
      way = "form";
      return granted;
    }
  };
}

/** The ID token's file is read each time, since it is replaced before the token expires. */
export function tokenExchange(
  options: { readonly clientId: string; readonly idTokenFile: string },
  parts: TokenParts,
): FetchToken {
  return async (signal) => {
    const jwt = await readIdToken(options.idTokenFile);
    return fetchToken(
      parts,
      { label: "oauth/token-exchange", form: { client_id: options.clientId, jwt } },
      signal,
    );
  };
}

async function readIdToken(path: string): Promise<string> {
  const refuse = (what: string): Error =>
    failed(
      { class: "auth", status: 0, reason: "id_token_file" },
      `the ID token file ${path} ${what}`,
    );
  const bytes = Buffer.alloc(MAX_FILE_BYTES + 1);
  let length: number;
  try {
    await using file = await open(path, "r");
    length = (await file.read(bytes, 0, bytes.length, 0)).bytesRead;
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    throw refuse(`cannot be read${typeof code === "string" ? `: ${code}` : ""}`);
  }
  if (length > MAX_FILE_BYTES) throw refuse(`has more than ${MAX_FILE_BYTES} bytes`);
  const jwt = bytes.toString("utf8", 0, length).trim();
  if (jwt === "") throw refuse("is empty");
  return jwt;
}

interface TokenRequest {
  readonly label: string;
  readonly form: Readonly<Record<string, string>>;
  readonly authorization?: Secret;
}

async function fetchToken(
  { client, clock, header }: TokenParts,
  { label, form, authorization }: TokenRequest,
  signal: AbortSignal,
): Promise<Granted> {
  const requestedAtMs = clock.now();
  header.value = authorization;
  const reply = await client
    .call(
      {
        operation: label,
        method: "POST",
        path: `/api/v2/${label}`,
        body: {
          type: "application/x-www-form-urlencoded",
          bytes: new URLSearchParams(form).toString(),
        },
        idempotent: true,
      },
      signal,
    )
    .catch((error: unknown) => {
      throw signal.aborted ? error : refusal(error);
    });
  return {
    token: tokenOf(reply),
    expiresAtMs:
      requestedAtMs + (count(inner(reply.value)["expires_in"]) ?? DEFAULT_LIFE_S) * 1_000,
  };
}

function tokenOf({ value }: Reply): Secret {
  const token = wholeText(inner(value)["access_token"]);
  // Untrusted text must not break the header.
  if (/^[\x21-\x7e]{1,8192}$/.test(token)) return Secret.of(token, "oauth");
  throw failed(
    { class: "auth", status: 0, reason: "oauth_error" },
    "the token endpoint gave no access token",
  );
}

// Status 0: a 403 or 404 of the token endpoint does not describe the endpoint that was called.
function refusal(error: unknown): unknown {
  const failure = failureOf(error);
  if (failure === undefined || failureClasses[failure.class].passing) return error;
  const code = codeOf(failure.body);
  const reason = code === undefined ? "oauth_error" : `oauth_${code}`;
  return failed(
    { class: "auth", status: 0, reason },
    `the token endpoint answered with status ${failure.status} (${reason})`,
  );
}

function codeOf(body: string | undefined): string | undefined {
  try {
    const code = wholeText(inner(JSON.parse(body ?? ""))["error"]);
    return CODES.has(code) ? code : undefined;
  } catch {
    return undefined;
  }
}

function formEncoded(value: string): string {
  return new URLSearchParams({ v: value }).toString().slice(2);
}
