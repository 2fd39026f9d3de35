/** Builds URLs of calls: below the base, never above it, never on another origin. */
import { StewardError } from "../../base/errors.ts";
import type { Query } from "../types.ts";

/** A path whose values are encoded, e.g. pathOf`/device/${id}/attributes`. */
export function pathOf(
  literals: TemplateStringsArray,
  ...values: readonly (string | number)[]
): string {
  return literals
    .map(
      (literal, index) =>
        (index === 0 ? "" : encodeURIComponent(String(values[index - 1]))) + literal,
    )
    .join("");
}

/** Validates a base URL. Throws `invalid`. */
export function checkBase(name: string, base: URL): void {
  const refuse = (what: string): StewardError =>
    new StewardError("invalid", `the address of ${name} ${what}`, {
      field: name,
      rule: "base",
      remedy: "give scheme, host and at most a path",
    });
  if (base.protocol !== "http:" && base.protocol !== "https:")
    throw refuse("must begin with http:// or https://");
  if (base.username !== "" || base.password !== "")
    throw refuse("must not hold a user or a password");
  if (base.search !== "" || base.hash !== "") throw refuse("must not hold a query or a fragment");
}

// Path traversal, alternative separators, path terminators and control characters.
const UNSAFE = /(?:^|\/)\.{1,2}(?:\/|$)|%2e|%2f|%5c|%00|[\\?#\p{Cc} ]|\/\//iu;

/**
 * The URL of a call; an empty path is the base itself, which an operator wrote. Throws `invalid` for
 * a path that could lead elsewhere; ids in it come from outside.
 */
export function addressOf(base: URL, path: string, query: Query | undefined): URL {
  if (path !== "" && (!path.startsWith("/") || UNSAFE.test(path)))
    throw new StewardError(
      "invalid",
      "a path of a call must begin with / and contain neither .. segments nor reserved characters",
      { rule: "path" },
    );
  const address = new URL(base);
  if (path !== "") address.pathname = base.pathname.replace(/\/$/, "") + path;
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? (value as readonly (string | number)[]) : [value])
      address.searchParams.append(name, String(one));
  }
  return address;
}

/** The URL that a Location or a link names, or undefined when it is not of the same origin. */
export function sameOrigin(from: URL, target: string): URL | undefined {
  const address = URL.parse(target, from.href);
  if (
    address === null ||
    address.origin !== from.origin ||
    address.username !== "" ||
    address.password !== ""
  )
    return undefined;
  return address;
}
