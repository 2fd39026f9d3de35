/** Verifies identity tokens: signature, issuer, times, audience, subject and claims. */
import type { KeyObject } from "node:crypto";
import {
  decodeProtectedHeader,
  errors,
  jwtVerify,
  type CryptoKey,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
} from "jose";
import type { JwtConfigRow, JwtRoleRow } from "../../../../gen/steward/state/v1/tokens_auth_pb.ts";
import { StewardError } from "../../../../kernel/base/errors.ts";
import { logicalError } from "../../../logical/occurred.ts";
import { unfitClaim, type BoundClaims } from "./claims.ts";
import type { Keys, KeySource } from "./keys.ts";
import type { IdentityToken } from "./used-tokens.ts";

/** Algorithms of public keys; what is shared with the issuer could make tokens, too. */
export const ALGORITHMS: readonly string[] = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
];
/** How far the clocks of issuer and Steward may differ at most. */
export const MAX_SKEW_MS = 300_000;
const MAX_TOKEN_LENGTH = 32_768;
const MILLISECONDS = 1_000;

/** An identity token that is what it says. */
export interface Verified {
  readonly claims: JWTPayload;
  readonly identity: IdentityToken;
  /** When no role accepts it any more; milliseconds since 1970. */
  readonly endsAtMs: number;
}

/**
 * Rejects with `invalid` and Vault's texts, or with `upstream` when the issuer's keys cannot be
 * fetched. Changes nothing.
 */
export async function verifyToken(
  source: KeySource,
  {
    config,
    role,
    jwt,
    nowMs,
  }: {
    readonly config: JwtConfigRow;
    readonly role: JwtRoleRow;
    readonly jwt: string;
    readonly nowMs: number;
  },
): Promise<Verified> {
  if (jwt === "") throw logicalError("missing token", { field: "jwt", rule: "required" });
  if (jwt.length > MAX_TOKEN_LENGTH)
    throw logicalError(`jwt has at most ${MAX_TOKEN_LENGTH} characters`, {
      field: "jwt",
      rule: "length",
    });
  const options: Omit<JWTVerifyOptions, "issuer"> = {
    algorithms: config.jwtSupportedAlgs.length === 0 ? [...ALGORITHMS] : config.jwtSupportedAlgs,
    currentDate: new Date(nowMs),
    clockTolerance: role.clockSkewMs / MILLISECONDS,
    requiredClaims: ["exp"],
  };
  const claims = await signedClaims(source, { config, jwt, options });
  checkAudience(claims, role);
  if (role.boundSubject !== "" && claims.sub !== role.boundSubject)
    throw refused("claims", "sub claim does not match bound subject");
  const unfit = unfitClaim(claims, JSON.parse(role.boundClaims || "{}") as BoundClaims, {
    globs: role.claimsAreGlobs,
  });
  if (unfit !== undefined)
    throw refused(
      "claims",
      `claim ${JSON.stringify(unfit)} does not match any associated bound claim values`,
    );
  return {
    claims,
    identity: {
      issuer: claims.iss ?? "",
      jti: typeof claims.jti === "string" && claims.jti !== "" ? claims.jti : undefined,
      payload: jwt.split(".")[1] ?? "",
    },
    // With the largest difference that a role may come to allow.
    endsAtMs: (claims.exp ?? 0) * MILLISECONDS + MAX_SKEW_MS,
  };
}

interface Signed {
  readonly config: JwtConfigRow;
  readonly jwt: string;
  readonly options: Omit<JWTVerifyOptions, "issuer">;
}

async function signedClaims(source: KeySource, signed: Signed): Promise<JWTPayload> {
  try {
    const keys = await source.current(signed.config);
    try {
      return await claimsBy(keys, signed);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // The issuer may have changed its keys meanwhile.
      const newer = await source.again(signed.config);
      if (newer === keys) throw error;
      return await claimsBy(newer, signed);
    }
  } catch (error) {
    throw known(error);
  }
}

/** Throws `JWKSNoMatchingKey` when newer keys of the issuer may verify the token. */
async function claimsBy(
  { issuer, find, given }: Keys,
  { jwt, options }: Signed,
): Promise<JWTPayload> {
  const exact = issuer === undefined ? options : { ...options, issuer };
  if (find === undefined) return await claimsByAny(given, jwt, exact);
  try {
    return await claimsByFetched(find, jwt, exact);
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed && !namesKey(jwt))
      throw new errors.JWKSNoMatchingKey(undefined, { cause: error });
    throw error;
  }
}

/** A `kid` is optional (RFC 7515): without it, each key for the token's algorithm is tried. */
async function claimsByFetched(
  find: JWTVerifyGetKey,
  jwt: string,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(jwt, find, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    return await claimsByAny(error, jwt, options);
  }
}

async function claimsByAny(
  keys: Iterable<KeyObject> | AsyncIterable<CryptoKey>,
  jwt: string,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  for await (const key of keys) {
    try {
      return (await jwtVerify(jwt, key, options)).payload;
    } catch (error) {
      // A key of another kind is no JOSE error; what the token says is the same with every key.
      const isOtherKey =
        !(error instanceof errors.JOSEError) ||
        error instanceof errors.JWSSignatureVerificationFailed;
      if (!isOtherKey) throw error;
    }
  }
  throw new errors.JWSSignatureVerificationFailed();
}

function namesKey(jwt: string): boolean {
  return decodeProtectedHeader(jwt).kid !== undefined;
}

/** An audience in the token has to be one that the role names. */
function checkAudience({ aud }: JWTPayload, { boundAudiences }: JwtRoleRow): void {
  const named = aud === undefined ? [] : [aud].flat();
  if (boundAudiences.length === 0) {
    if (named.length === 0) return;
    throw refused("token", "audience claim found in JWT but no audiences bound to the role");
  }
  if (!named.some((each) => boundAudiences.includes(each)))
    throw refused("token", "aud claim does not match any bound audience");
}

/** What is told of a refusal: what the token lacks, never what it has. */
function known(error: unknown): StewardError {
  if (error instanceof StewardError) return error;
  if (error instanceof errors.JWTExpired) return refused("token", "token is expired");
  if (error instanceof errors.JWTClaimValidationFailed)
    return refused("token", claimText(error.claim, error.reason));
  if (error instanceof errors.JOSEAlgNotAllowed)
    return refused("token", "its algorithm is not one of jwt_supported_algs");
  if (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof TypeError
  )
    return refused("token", "no known key successfully validated the token signature");
  if (error instanceof errors.JOSEError) return refused("token", "it is no signed JWT");
  return new StewardError("internal", "the identity token could not be verified", { cause: error });
}

function claimText(claim: string, reason: string): string {
  if (reason === "missing") return `${claim} claim is missing`;
  if (claim === "iss") return "iss claim does not match the bound issuer";
  return claim === "nbf" || claim === "iat"
    ? "token is not valid yet"
    : `${claim} claim is invalid`;
}

function refused(what: "token" | "claims", why: string): StewardError {
  return logicalError(`error validating ${what}: ${why}`, { field: "jwt", rule: what });
}
