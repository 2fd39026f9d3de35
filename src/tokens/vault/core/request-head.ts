/** Decodes what accompanies path and data on every transport: token, namespace, wrap TTL. */
import { withoutEnds } from "../../../kernel/base/text/ends.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import { Secret } from "../../../kernel/base/secret.ts";
import type { RequestHeaders } from "../../../kernel/service.ts";
import { parseGoDurationMs } from "../../logical/go-values.ts";

/** `X-Vault-Token`, else a `Bearer` in exactly this case; the first of repeated headers counts. */
export function tokenIn(headers: RequestHeaders): Secret | undefined {
  const own = firstOf(headers, "x-vault-token") ?? "";
  if (own !== "") return Secret.of(own, "X-Vault-Token");
  const authorization = firstOf(headers, "authorization") ?? "";
  const bearer = authorization.startsWith("Bearer ")
    ? authorization.slice("Bearer ".length).trim()
    : "";
  return bearer === "" ? undefined : Secret.of(bearer, "Authorization");
}

/** The first header of a lower-case name. */
export function firstOf(headers: RequestHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Milliseconds; undefined if absent. `field` names the source. Throws `invalid`. */
export function wrapTtlMs(text: string | undefined, field: string): number | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    return parseGoDurationMs(text) || undefined;
  } catch {
    throw new StewardError(
      "invalid",
      `${field} must be a duration such as 60 or 60s, got ${JSON.stringify(text.slice(0, 40))}`,
      { field },
    );
  }
}

/** Only the root namespace exists. Throws `not_found` for others. */
export function assertRootNamespace(name: string | undefined): void {
  const plain = withoutEnds(name ?? "", "/");
  if (plain !== "" && plain !== "root")
    throw new StewardError("not_found", "namespace not found", { rule: "namespace" });
}
