/**
 * What stands beside a request's path and data, on every wire alike: its token, its namespace, its
 * wish to be wrapped.
 */
import { withoutEnds } from "../../../kernel/base/ends.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import { Secret } from "../../../kernel/base/secret.ts";
import type { RequestHeaders } from "../../../kernel/service.ts";
import { parseGoDurationMs } from "../../logical/go-values.ts";

/**
 * `X-Vault-Token`, else a Bearer in this very case, of headers or metadata; of several of one name
 * the first counts.
 */
export function tokenIn(headers: RequestHeaders): Secret | undefined {
  const own = firstOf(headers, "x-vault-token") ?? "";
  if (own !== "") return Secret.of(own, "X-Vault-Token");
  const authorization = firstOf(headers, "authorization") ?? "";
  const bearer = authorization.startsWith("Bearer ")
    ? authorization.slice("Bearer ".length).trim()
    : "";
  return bearer === "" ? undefined : Secret.of(bearer, "Authorization");
}

/** The first header of a name, which is in lower case. */
export function firstOf(headers: RequestHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Milliseconds; undefined for none. `field` names where the text stood. Throws `invalid`. */
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

/** There is one namespace. Throws `not_found` for any other. */
export function assertRootNamespace(name: string | undefined): void {
  const plain = withoutEnds(name ?? "", "/");
  if (plain !== "" && plain !== "root")
    throw new StewardError("not_found", "namespace not found", { rule: "namespace" });
}
