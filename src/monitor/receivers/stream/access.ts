/** Decides from the head of a request whether it may stream to a route. */
import type { IncomingHttpHeaders } from "node:http";
import type { Secret } from "../../../kernel/base/secret.ts";
import { isFromForeignPage } from "../foreign-page.ts";
import type { Refusal } from "../refusal.ts";
import { rejection, type RejectionReason } from "./rejection.ts";

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
  return isFromForeignPage(headers)
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
