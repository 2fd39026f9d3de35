/** Authorization: one decision per request, before its body is read, for REST and rpc alike. */
import { Access } from "../../src/gen/steward/options/v1/options_pb.ts";
import { StewardError } from "../../src/kernel/base/errors.ts";
import type { Secret } from "../../src/kernel/base/secret.ts";
import { joinedHeader } from "../../src/kernel/listen/headers/header.ts";
import type { DialectName } from "../../src/kernel/wire/style.ts";
import { isCrossSite } from "./cross-site.ts";
import { isTrustedHost } from "./host.ts";
import { isOperator } from "./operator.ts";

/** `headers` has names in lower case and the authority as `host`, over HTTP/2 too. */
export interface RequestHead {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface AuthOptions {
  /** `auth.token`; without it only this machine's own host names are accepted. */
  readonly token?: Secret;
  /** `admin.auth.token`; methods for administrators then accept this one only. */
  readonly adminToken?: Secret;
  /** `gateway.allowed_hosts`. */
  readonly allowedHosts: readonly string[];
  /**
   * `gateway.cors.allowed_origins`: origins that may use the document service, and nothing else;
   * default none. `*` alone means all.
   */
  readonly allowedOrigins?: readonly string[];
}

/** Properties of a route that decide who may call it. */
export interface RouteFacts {
  /**
   * Origins whose pages may change something here; default `allowedOrigins` of the configuration
   * for documents.
   */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Whether the headers carry a valid credential of the route's own kind, e.g. a Vault token. */
  readonly hasCredential?: ((headers: RequestHead["headers"]) => boolean) | undefined;
}

/**
 * Returns if the request is allowed, else throws: `denied` for a foreign host name or origin,
 * `unauthenticated` for the credential.
 */
export type Authorize = (
  access: Access,
  dialect: DialectName,
  request: RequestHead,
  route?: RouteFacts,
) => StewardError | undefined;

/** Creates the authorization of one set of credentials. */
export function createAuthorize(auth: AuthOptions): Authorize {
  return (access, dialect, request, route = {}) => {
    const allowedOrigins =
      route.allowedOrigins ?? (dialect === "dedup" ? auth.allowedOrigins : undefined) ?? [];
    return (
      refuseName(auth, access, request, route) ??
      refuseForeignPage(dialect, request, allowedOrigins) ??
      refuseCredential(auth, access, request)
    );
  };
}

function refuseName(
  auth: AuthOptions,
  access: Access,
  request: RequestHead,
  route: RouteFacts,
): StewardError | undefined {
  const host = joinedHeader(request.headers["host"]) ?? "";
  if (
    auth.token !== undefined ||
    tokenFor(auth, access) !== undefined ||
    isTrustedHost(host, auth.allowedHosts) ||
    isOpenUnderAnyName(request, route)
  )
    return undefined;
  const remedy = "use localhost, add the name to gateway.allowed_hosts, or set auth.token";
  const without = request.path.startsWith("/v1/") ? "a live Vault token" : "a token";
  return new StewardError(
    "denied",
    `without ${without} Steward accepts only host names of this machine, not ${quoted(host)}; ${remedy}`,
    { rule: "host", remedy },
  );
}

/**
 * gRPC health, and requests with a valid Vault token. An invalid one does not count: a page that
 * reached this machine by DNS rebinding can send any header. `sys/init` and `sys/unseal` never
 * check the token, so no spelling of them is exempt.
 */
function isOpenUnderAnyName(
  { path, headers }: RequestHead,
  { hasCredential }: RouteFacts,
): boolean {
  if (path.startsWith("/grpc.health.v1.Health/")) return true;
  if (
    !path.startsWith("/v1/") ||
    /^\/v1\/+sys\/+(init|unseal)\/*$/i.test(path) ||
    /%|\/\/|\/\.\.?(\/|$)/.test(path)
  )
    return false;
  return hasCredential?.(headers) === true;
}

function refuseForeignPage(
  dialect: DialectName,
  request: RequestHead,
  allowedOrigins: readonly string[],
): StewardError | undefined {
  const { headers, method } = request;
  if (dialect === "vault" && hasVaultToken(request)) return undefined;
  const provenance = {
    method,
    host: joinedHeader(headers["host"]) ?? "",
    origin: joinedHeader(headers["origin"]),
    fetchSite: joinedHeader(headers["sec-fetch-site"]),
  };
  if (!isCrossSite(provenance, allowedOrigins)) return undefined;
  const { origin, fetchSite = "same-origin", host } = provenance;
  // A browser that knows the page for a foreign one says so in Sec-Fetch-Site. Else a proxy may
  // have changed Host; over plain HTTP browsers leave that header out.
  const isRenamed = origin !== undefined && fetchSite === "same-origin";
  const remedy = `send it from Steward's own pages, or from a program that sends neither Origin nor Sec-Fetch-Site${
    isRenamed ? "; a proxy in front must pass on the Host header of the browser" : ""
  }`;
  const names = isRenamed ? `: Origin is ${quoted(origin)}, Host is ${quoted(host)}` : "";
  return new StewardError(
    "denied",
    `a page of another site may not change anything here${names}; ${remedy}`,
    { rule: "cross_site", remedy },
  );
}

/** A value of the request as an error may repeat it. */
function quoted(value: string): string {
  return JSON.stringify(value.slice(0, 100));
}

function hasVaultToken({ headers }: RequestHead): boolean {
  return (
    headers["x-vault-token"] !== undefined ||
    /^bearer /i.test(joinedHeader(headers["authorization"]) ?? "")
  );
}

function refuseCredential(
  auth: AuthOptions,
  access: Access,
  request: RequestHead,
): StewardError | undefined {
  switch (access) {
    case Access.PUBLIC:
    case Access.SELF:
      return undefined;
    case Access.OPERATOR:
    case Access.ADMIN: {
      const authorization = joinedHeader(request.headers["authorization"]);
      if (isOperator(tokenFor(auth, access), authorization)) return undefined;
      const remedy = "send it as Authorization: Bearer, or as the password of HTTP Basic";
      const who =
        access === Access.ADMIN && auth.adminToken !== undefined ? "administrator" : "operator";
      const what =
        authorization === undefined
          ? `this needs the ${who}'s token`
          : `the token is not the ${who}'s`;
      return new StewardError("unauthenticated", `${what}; ${remedy}`, {
        rule: "operator_token",
        remedy,
      });
    }
    default:
      return new StewardError("internal", "a method without an access rule was called");
  }
}

/** The token required for this access; undefined where none is set or required. */
function tokenFor(auth: AuthOptions, access: Access): Secret | undefined {
  if (access === Access.ADMIN) return auth.adminToken ?? auth.token;
  return access === Access.OPERATOR ? auth.token : undefined;
}
