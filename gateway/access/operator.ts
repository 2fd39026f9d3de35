/**
 * The operator's token: Bearer, or the password of HTTP Basic so that a browser's own prompt works.
 */
import type { Secret } from "../../src/kernel/base/secret.ts";

/**
 * The credential of an `Authorization` header: a Bearer token or a Basic password; undefined
 * without either.
 */
export function presentedCredential(authorization: string | undefined): string | undefined {
  const match = /^(bearer|basic) +(\S+)$/i.exec(authorization ?? "");
  const value = match?.[2];
  if (value === undefined || match?.[1]?.toLowerCase() === "bearer") return value;
  const pair = Buffer.from(value, "base64").toString("utf8");
  const colon = pair.indexOf(":");
  return colon < 0 ? undefined : pair.slice(colon + 1);
}

/**
 * Whether a request may act as the operator: always where no token is set. Compares in constant
 * time.
 */
export function isOperator(token: Secret | undefined, authorization: string | undefined): boolean {
  if (token === undefined) return true;
  const presented = presentedCredential(authorization);
  return presented !== undefined && token.equals(presented);
}
