/**
 * Access tokens: OAuth client credentials (RFC 6749 §4.4) and the exchange of a workload's own ID
 * token.
 */
import { open } from "node:fs/promises";
import type { Clock } from "../../../kernel/base/clock.ts";
import { Secret } from "../../../kernel/base/secret.ts";
import type { Granted } from "../../../kernel/client/authorizers.ts";
import { failed, failureClasses, failureOf } from "../../../kernel/client/failure.ts";
import type { Client, Reply } from "../../../kernel/client/types.ts";
import { count, inner, wholeText } from "../decode/fields.ts";

const MOST_FILE_BYTES = 64 * 1024;

/** A token that does not say how long it lives. */
const DEFAULT_LIFE_S = 3_600;

/** The codes that the standard has (RFC 6749 §5.2). */
const CODES: ReadonlySet<string> = new Set([
  "invalid_request",
  "invalid_client",
  "invalid_grant",
  "unauthorized_client",
  "unsupported_grant_type",
  "invalid_scope",
]);

/** What fetches. */
export interface TokenParts {
  readonly client: Client;
  readonly clock: Clock;
  /**
   * What the client sends as Authorization; set before each request. One request runs at a time.
   */
  readonly header: { value: Secret | undefined };
}

/**
 * Fetches one token. Rejects with class `auth` and `reason` `oauth_<code>` when that is final, else
 * as the client does.
 */
export type FetchToken = (signal: AbortSignal) => Promise<Granted>;

/**
 * Tokens for an OAuth client. It shows itself in the header; a server that does not know it so is
 * asked once with the form.
 */
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
  const ask = (by: typeof way, signal: AbortSignal): Promise<Granted> =>
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
      return await ask(way, signal);
    } catch (error) {
      if (way === "form" || failureOf(error)?.reason !== "oauth_invalid_client") throw error;
      const granted = await ask("form", signal);
      way = "form";
      return granted;
    }
  };
}

/**
 * Tokens for a workload; the file is read each time, since it is replaced before its token ends.
 */
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
  const bytes = Buffer.alloc(MOST_FILE_BYTES + 1);
  let length: number;
  try {
    await using file = await open(path, "r");
    length = (await file.read(bytes, 0, bytes.length, 0)).bytesRead;
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    throw refuse(`cannot be read${typeof code === "string" ? `: ${code}` : ""}`);
  }
  if (length > MOST_FILE_BYTES) throw refuse(`has more than ${MOST_FILE_BYTES} bytes`);
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
  const askedAtMs = clock.now();
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
    expiresAtMs: askedAtMs + (count(inner(reply.value)["expires_in"]) ?? DEFAULT_LIFE_S) * 1_000,
  };
}

function tokenOf({ value }: Reply): Secret {
  const token = wholeText(inner(value)["access_token"]);
  // Nothing that ends the header may come from outside.
  if (/^[\x21-\x7e]{1,8192}$/.test(token)) return Secret.of(token, "oauth");
  throw failed(
    { class: "auth", status: 0, reason: "oauth_error" },
    "the token endpoint gave no access token",
  );
}

// Status 0: a 403 or 404 of the token endpoint says nothing of the endpoint that was to be asked.
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
