/**
 * The keys of an issuer: given, or fetched by discovery (OpenID Connect Discovery 1.0) or from an
 * address (RFC 7517), and stored in memory. A key that is not known is looked for again, at most
 * twice a minute; while the issuer does not answer, its last keys hold for a day.
 */
import { createPublicKey, type KeyObject } from "node:crypto";
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import type { JwtConfigRow } from "../../../../gen/steward/state/v1/tokens_auth_pb.ts";
import type { Clock } from "../../../../kernel/base/clock.ts";
import { StewardError, toStewardError } from "../../../../kernel/base/errors.ts";
import type { Log } from "../../../../kernel/base/log.ts";
import { wholeBody } from "../../../engine/platform/body.ts";
import type { Http } from "../../../engine/platform/http.ts";

const MAX_DOCUMENT_BYTES = 256 * 1024;
const MAX_KEYS = 100;
const FRESH_MS = 600_000;
const STALE_MS = 86_400_000;
const SOONEST_MS = 30_000;

/** Makes a client that trusts these authorities, too. */
export type OpenHttp = (caPem: string) => Http;

export interface Keys {
  /** Undefined where any issuer is accepted. */
  readonly issuer: string | undefined;
  /** Finds keys by the head of a token, where the issuer names them. */
  readonly find: JWTVerifyGetKey | undefined;
  /** To be tried one after the other. */
  readonly given: readonly KeyObject[];
}

export interface KeySource {
  /** Throws `upstream` when there are none, `invalid` for a wrong discovery. */
  current(config: JwtConfigRow): Promise<Keys>;
  /** Again, unless that was a moment ago; the same as `current` then. */
  again(config: JwtConfigRow): Promise<Keys>;
  /** Fetches now, for a configuration that is not stored yet. */
  probe(config: JwtConfigRow): Promise<void>;
  /** The configuration has changed. */
  forget(): void;
  close(): Promise<void>;
}

interface Fetched {
  readonly keys: Keys;
  readonly atMs: number;
}

export function createKeySource({
  clock,
  log,
  openHttp,
}: {
  clock: Clock;
  log: Log;
  openHttp: OpenHttp;
}): KeySource {
  let http: Http | undefined;
  let fetched: Fetched | undefined;
  let fetching: Promise<Keys> | undefined;
  let triedAtMs = Number.NEGATIVE_INFINITY;

  async function fetchNow(config: JwtConfigRow): Promise<Keys> {
    triedAtMs = clock.monotonic();
    const client = (http ??= openHttp(config.caPem));
    const keys = await remoteKeys(client, config);
    // Not those of a configuration that was replaced meanwhile.
    if (client === http) fetched = { keys, atMs: clock.monotonic() };
    return keys;
  }

  /** One at a time; a failure leaves the keys before it, for a day. */
  async function refreshed(config: JwtConfigRow): Promise<Keys> {
    const one = (fetching ??= fetchNow(config));
    try {
      return await one;
    } catch (error) {
      const last = fetched;
      if (last === undefined || clock.monotonic() - last.atMs > STALE_MS) throw error;
      log.warn("the keys of the issuer could not be fetched; the last ones are used", {
        error: toStewardError(error),
      });
      return last.keys;
    } finally {
      if (fetching === one) fetching = undefined;
    }
  }

  const isSoon = (): boolean => clock.monotonic() - triedAtMs < SOONEST_MS;
  const current = async (config: JwtConfigRow): Promise<Keys> => {
    if (config.jwtValidationPubkeys.length > 0) return givenKeys(config);
    if (fetched !== undefined && (clock.monotonic() - fetched.atMs < FRESH_MS || isSoon()))
      return fetched.keys;
    return await refreshed(config);
  };
  return {
    current,
    async again(config) {
      if (config.jwtValidationPubkeys.length > 0 || isSoon()) return await current(config);
      return await refreshed(config);
    },
    async probe(config) {
      if (config.jwtValidationPubkeys.length > 0) return void givenKeys(config);
      const own = openHttp(config.caPem);
      try {
        await remoteKeys(own, config);
      } finally {
        await own.close();
      }
    },
    forget() {
      void http?.close();
      http = undefined;
      fetched = undefined;
      fetching = undefined;
      triedAtMs = Number.NEGATIVE_INFINITY;
    },
    async close() {
      await http?.close();
    },
  };
}

function givenKeys({ jwtValidationPubkeys, boundIssuer }: JwtConfigRow): Keys {
  return {
    issuer: boundIssuer || undefined,
    find: undefined,
    given: jwtValidationPubkeys.map((pem) => createPublicKey(pem)),
  };
}

async function remoteKeys(http: Http, config: JwtConfigRow): Promise<Keys> {
  const { oidcDiscoveryUrl: discovery, boundIssuer } = config;
  if (discovery === "")
    return keysFrom(await documentAt(http, config.jwksUrl), boundIssuer || undefined);
  const address = `${discovery.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const { issuer, jwks_uri: jwks } = await documentAt(http, address);
  if (issuer !== discovery)
    throw new StewardError(
      "invalid",
      `the issuer at oidc_discovery_url calls itself ${JSON.stringify(String(issuer).slice(0, 200))}`,
      { field: "oidc_discovery_url", remedy: "write exactly that address" },
    );
  if (typeof jwks !== "string" || !isFetchable(jwks))
    throw new StewardError("upstream", "the discovery names no address of keys that is safe");
  return keysFrom(await documentAt(http, jwks), boundIssuer || discovery);
}

/** Of `https`, or of this machine; without credentials, query and fragment of an issuer. */
export function isFetchable(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.username !== "" || url.password !== "" || url.hash !== "")
    return false;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isLocal = host === "localhost" || host === "::1" || /^127(?:\.\d+){3}$/.test(host);
  return url.protocol === "https:" || (url.protocol === "http:" && isLocal);
}

async function documentAt(http: Http, address: string): Promise<Readonly<Record<string, unknown>>> {
  const { origin, pathname, search } = new URL(address);
  const reply = await http.send({
    method: "GET",
    origin,
    path: `${pathname}${search}`,
    headers: { accept: "application/json", "user-agent": "steward" },
    sink: wholeBody(MAX_DOCUMENT_BYTES),
  });
  if (reply.lost !== undefined)
    throw new StewardError("upstream", `${address} could not be fetched: ${reply.reason}`);
  if (reply.status !== 200)
    throw new StewardError("upstream", `${address} could not be fetched: status ${reply.status}`);
  try {
    const document: unknown = JSON.parse(reply.body.toString("utf8"));
    if (typeof document === "object" && document !== null)
      return document as Readonly<Record<string, unknown>>;
  } catch {
    // Falls through: what is no JSON is no document.
  }
  throw new StewardError("upstream", `${address} is no JSON document`);
}

/** Of the keys those with which signatures can be verified; secrets shared with others never. */
function keysFrom({ keys }: Readonly<Record<string, unknown>>, issuer: string | undefined): Keys {
  const usable = (Array.isArray(keys) ? keys.slice(0, MAX_KEYS) : []).filter(
    (key): key is JSONWebKeySet["keys"][number] =>
      typeof key === "object" &&
      key !== null &&
      ["RSA", "EC", "OKP"].includes(String((key as { kty?: unknown }).kty)) &&
      (key as { use?: unknown }).use !== "enc",
  );
  if (usable.length === 0)
    throw new StewardError("upstream", "the issuer's document has no key for signatures");
  return { issuer, find: createLocalJWKSet({ keys: usable }), given: [] };
}
