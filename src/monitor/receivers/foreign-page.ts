/** Refuses requests of web pages where a receiver has no credential. */
import type { IncomingHttpHeaders } from "node:http";
import { isLoopback } from "../../kernel/config/values/address.ts";
import { joinedHeader } from "../../kernel/listen/headers/header.ts";

/** Form types that a page may post to another site without asking first. */
const FORMS: ReadonlySet<string> = new Set([
  "application/x-www-form-urlencoded",
  "multipart/form-data",
  "text/plain",
]);
/** RFC 9110 §8.3.1: type, subtype and anything after a semicolon. */
const MEDIA_TYPE = /^\s*([!#$%&'*+.^_`|~\w-]+\/[!#$%&'*+.^_`|~\w-]+)\s*(?:;.*)?$/;

/** Whether a page of the web could have sent the request, or reached this machine by DNS rebinding. */
export function isFromForeignPage(headers: IncomingHttpHeaders): boolean {
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
