/** Decides from the head of a request whether it may stream to a route. */
import type { IncomingHttpHeaders } from "node:http";
import type { Secret } from "../../../kernel/base/secret.ts";
import { isLoopback } from "../../../kernel/config/values/address.ts";
import { joinedHeader } from "../../../kernel/listen/headers/header.ts";
import type { Refusal } from "../refusal.ts";
import { rejection, type RejectionReason } from "./rejection.ts";

/** Form types that a page may post to another site without asking first. */
const FORMS: ReadonlySet<string> = new Set([
  "application/x-www-form-urlencoded",
  "multipart/form-data",
  "text/plain",
]);
/** RFC 9110 §8.3.1: type, subtype and anything after a semicolon. */
const MEDIA_TYPE = /^\s*([!#$%&'*+.^_`|~\w-]+\/[!#$%&'*+.^_`|~\w-]+)\s*(?:;.*)?$/;

/** Undefined when the request may stream. Without a token only loopback addresses are served. */
export function refuseStream(
  token: Secret | undefined,
  isLocal: boolean,
  headers: IncomingHttpHeaders,
): Refusal<RejectionReason> | undefined {
  if (token !== undefined)
    return carries(token, headers.authorization)
      ? undefined
      : rejection("auth", "the token is missing or wrong");
  if (!isLocal) return rejection("auth_required", "streaming.token is not set");
  return isForeign(headers)
    ? rejection("cross_site", "without a token, requests of web pages are refused")
    : undefined;
}

/** HTTP Basic with the token as password, or `Splunk TOKEN`. */
function carries(token: Secret, authorization: string | undefined): boolean {
  const [scheme = "", value, ...more] = (authorization ?? "").trim().split(/\s+/);
  if (value === undefined || more.length > 0) return false;
  if (scheme.toLowerCase() === "splunk") return token.equals(value);
  if (scheme.toLowerCase() !== "basic") return false;
  const pair = Buffer.from(value, "base64").toString("utf8");
  const colon = pair.indexOf(":");
  return colon !== -1 && token.equals(pair.slice(colon + 1));
}

function isForeign(headers: IncomingHttpHeaders): boolean {
  const among = (name: string, allowed: readonly string[]): boolean => {
    const value = joinedHeader(headers[name]);
    return value === undefined || allowed.includes(value.toLowerCase());
  };
  return (
    headers.origin !== undefined ||
    !among("sec-fetch-site", ["none", "same-origin"]) ||
    !among("sec-fetch-mode", ["cors", "same-origin"]) ||
    !among("sec-fetch-dest", ["empty"]) ||
    isForm(headers["content-type"]) ||
    !isLocalName(headers.host ?? joinedHeader(headers[":authority"]) ?? "")
  );
}

/** A content type that cannot be read counts as one, an absent one does not. */
function isForm(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  const type = MEDIA_TYPE.exec(contentType)?.[1]?.toLowerCase();
  return type === undefined || FORMS.has(type);
}

/** Names are not resolved: `localhost` or a loopback address with any port. */
function isLocalName(authority: string): boolean {
  const host = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::\d{1,5})?$/i.exec(authority);
  const name = host?.[1] ?? host?.[2];
  return name !== undefined && isLoopback(name);
}
