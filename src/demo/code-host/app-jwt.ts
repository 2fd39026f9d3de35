/**
 * Whether a request comes from an app: the signature and the claims of its JWT, with upstream's
 * wording.
 */
import { verify } from "node:crypto";
import { refusal, type Reply } from "./answers.ts";
import type { App, Estate } from "./estate/estate.ts";

/** Checks the credential of calls that an app makes as itself. */
export interface AppJwt {
  /** The app, or the refusal. `nowMs` is the host's clock. */
  check(authorization: string | undefined, nowMs: number): App | Reply;
}

interface Verified {
  readonly app: App;
  readonly claims: Claims;
}

type Claims = Readonly<Record<string, unknown>>;

/** Verifying costs as much as everything else of a mint, and a client uses one JWT for minutes. */
const CACHED = 256;
const MAX_LIFE_S = 600;

const UNDECODABLE = refusal(401, "A JSON web token could not be decoded");
const UNKNOWN_APP = refusal(401, "Integration not found");
const NO_ISSUER = refusal(401, "Missing 'issuer' claim ('iss') in assertion");
const BAD_ISSUER = refusal(401, "'Issuer' claim ('iss') must be an Integer");
const NO_EXPIRY = refusal(401, "Missing 'expiration time' claim ('exp') in assertion");
const EXPIRED = refusal(
  401,
  "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
);
const TOO_LONG = refusal(401, "'Expiration time' claim ('exp') is too far in the future");
const NO_ISSUED_AT = refusal(401, "Missing 'issued at' claim ('iat') in assertion");
const NOT_YET = refusal(
  401,
  "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
);

/** `integerIssuer` refuses an issuer that is text. */
export function createAppJwt(estate: Estate, options: { readonly integerIssuer: boolean }): AppJwt {
  const verified = new Map<string, Verified>();
  const remember = (token: string, entry: Verified): void => {
    const [oldest] = verified.size < CACHED ? [] : verified.keys();
    if (oldest !== undefined) verified.delete(oldest);
    verified.set(token, entry);
  };
  return {
    check(authorization, nowMs) {
      const token = bearer(authorization);
      if (token === undefined) return UNDECODABLE;
      const known = verified.get(token);
      const entry =
        known !== undefined && estate.app(known.app.spec.id) === known.app
          ? known
          : decode(token, estate, options.integerIssuer);
      if ("status" in entry) return entry;
      if (entry !== known) remember(token, entry);
      return checkTimes(entry.claims, Math.floor(nowMs / 1000)) ?? entry.app;
    },
  };
}

/** The claims of a JWT in an `Authorization` header, unverified; undefined when there is none. */
export function claimsOf(authorization: string | undefined): Claims | undefined {
  const token = bearer(authorization);
  return token === undefined ? undefined : readPart(token.split(".")[1] ?? "");
}

function bearer(authorization: string | undefined): string | undefined {
  return /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(authorization ?? "")?.[1];
}

function decode(token: string, estate: Estate, integerIssuer: boolean): Verified | Reply {
  const [head = "", body = "", signature = ""] = token.split(".");
  const claims = readPart(body);
  if (claims === undefined || readPart(head)?.["alg"] !== "RS256") return UNDECODABLE;
  const app = issuer(claims["iss"], estate, integerIssuer);
  if ("status" in app) return app;
  const signed = Buffer.from(`${head}.${body}`);
  const mark = Buffer.from(signature, "base64url");
  return app.keys.some((key) => verify("RSA-SHA256", signed, key, mark))
    ? { app, claims }
    : UNDECODABLE;
}

function readPart(part: string): Claims | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Claims)
      : undefined;
  } catch {
    return undefined; // What is no JSON is no claim; the caller answers for it.
  }
}

// App id as a number or as digits, or the client id.
function issuer(iss: unknown, estate: Estate, integerIssuer: boolean): App | Reply {
  if (iss === undefined || iss === null) return NO_ISSUER;
  if (typeof iss === "number" && Number.isSafeInteger(iss)) return estate.app(iss) ?? UNKNOWN_APP;
  if (typeof iss !== "string" || integerIssuer) return BAD_ISSUER;
  if (/^\d{1,15}$/.test(iss)) return estate.app(Number(iss)) ?? UNKNOWN_APP;
  return estate.appByClientId(iss) ?? (/^(Iv1\.|Iv2|Iv23)/.test(iss) ? UNKNOWN_APP : BAD_ISSUER);
}

function checkTimes(claims: Claims, nowS: number): Reply | undefined {
  const { exp, iat } = claims;
  if (exp === undefined || exp === null) return NO_EXPIRY;
  if (typeof exp !== "number" || exp <= nowS) return EXPIRED;
  if (exp > nowS + MAX_LIFE_S) return TOO_LONG;
  if (iat === undefined || iat === null) return NO_ISSUED_AT;
  if (typeof iat !== "number" || !Number.isInteger(iat) || iat > nowS) return NOT_YET;
  return undefined;
}
