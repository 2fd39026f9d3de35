/**
 * Authentication of the pull endpoint: its own token as Bearer or as password of HTTP Basic; no
 * other token of the process is accepted.
 */
import { equalSecrets } from "../../../base/secret.ts";
import { isLoopback } from "../../../config/values/address.ts";
import type { PullRejection } from "../../status.ts";
import type { WirePull } from "../options.ts";

/**
 * The reason for rejection, undefined when allowed. Without a token only a loopback bind is open,
 * unless `allowUnauthenticated`.
 */
export function refusePull(
  {
    listen,
    token,
    allowUnauthenticated,
  }: Pick<WirePull, "listen" | "token" | "allowUnauthenticated">,
  authorization: string | undefined,
): PullRejection | undefined {
  if (token === undefined)
    return allowUnauthenticated || isLoopback(listen.host) ? undefined : "auth_required";
  const given = credentialOf(authorization);
  if (given === undefined) return "missing_credentials";
  return equalSecrets(given, token) ? undefined : "bad_credentials";
}

function credentialOf(authorization: string | undefined): string | undefined {
  const [, scheme = "", value = ""] = /^(\S+)\s+(\S.*)$/.exec((authorization ?? "").trim()) ?? [];
  if (/^bearer$/i.test(scheme)) return value;
  if (!/^basic$/i.test(scheme)) return undefined;
  const decoded = Buffer.from(value, "base64").toString("utf8");
  const colon = decoded.indexOf(":");
  return colon < 0 ? undefined : decoded.slice(colon + 1);
}
