/**
 * What installation tokens look like: the classic form with its checksum, and the long stateless
 * one that begins to replace it.
 */
import { createHmac } from "node:crypto";
import { crc32 } from "node:zlib";
import { base62Digits } from "../../../kernel/base/ids.ts";
import type { Ids } from "../../../kernel/base/ids.ts";

/** Claims of a stateless token. */
interface TokenFacts {
  readonly appId: number;
  readonly installationId: number;
  readonly issuedAtS: number;
  readonly expiresAtS: number;
}

/** Makes token texts. */
export interface TokenForms {
  /** `ghs_` and 36 characters: 30 random ones and the CRC-32 of these. */
  classic(): string;
  /** `ghs_APPID_JWT`, about 520 characters with two dots. */
  stateless(facts: TokenFacts): string;
}

const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
/** Fills the claims so that the whole is as long as upstream's. */
const FILLER_LENGTH = 126;
const HEADER = Buffer.from(
  JSON.stringify({ alg: "HS512", typ: "JWT", kid: "installation" }),
).toString("base64url");

/** The key that signs stateless tokens is made here and never leaves. */
export function createTokenForms(ids: Ids): TokenForms {
  const key = ids.bytes(64);
  return {
    classic() {
      const random = ids.base62(RANDOM_LENGTH);
      return `ghs_${random}${checksum(random)}`;
    },
    stateless({ appId, installationId, issuedAtS, expiresAtS }) {
      const claims = {
        iss: "code-host",
        sub: `installation:${installationId}`,
        aud: "api",
        iat: issuedAtS,
        exp: expiresAtS,
        jti: ids.uuid(),
        sid: ids.base62(FILLER_LENGTH),
      };
      const signed = `${HEADER}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
      return `ghs_${appId}_${signed}.${createHmac("sha512", key).update(signed).digest("base64url")}`;
    },
  };
}

/** The last six characters of a classic token for the thirty before them. */
export function checksum(random: string): string {
  return base62Digits(crc32(random), CHECKSUM_LENGTH);
}
