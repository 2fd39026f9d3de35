/** What a role demands of the claims of an identity token. */
import { getOwn } from "./own.ts";

export type Claims = Readonly<Record<string, unknown>>;

/** Values that each claim may have. */
export type BoundClaims = Readonly<Record<string, readonly string[]>>;

/** A claim by its name, or by a JSON pointer (RFC 6901) if it begins with a slash. */
function claimAt(claims: Claims, name: string): unknown {
  if (!name.startsWith("/")) return getOwn(claims, name);
  let value: unknown = claims;
  for (const part of name.slice(1).split("/"))
    value = getOwn(value, part.replaceAll("~1", "/").replaceAll("~0", "~"));
  return value;
}

/** A claim as text; undefined for objects, lists and what is missing. */
export function textAt(claims: Claims, name: string): string | undefined {
  const value = claimAt(claims, name);
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : undefined;
}

/** The first bound claim that does not fit; undefined when all do. A list fits with one entry. */
export function unfitClaim(
  claims: Claims,
  bound: BoundClaims,
  { globs }: { readonly globs: boolean },
): string | undefined {
  return Object.entries(bound).find(([name, wanted]) => {
    const value = claimAt(claims, name);
    const found = (Array.isArray(value) ? value : [value])
      .filter((each) => ["string", "number", "boolean"].includes(typeof each))
      .map(String);
    return !found.some((text) =>
      wanted.some((each) => (globs ? matchesGlob(text, each) : text === each)),
    );
  })?.[0];
}

/** `*` stands for any text; linear in the length of both. */
export function matchesGlob(text: string, pattern: string): boolean {
  const [head = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return text === pattern;
  const tail = rest.pop() ?? "";
  if (!text.startsWith(head) || text.length < head.length + tail.length) return false;
  const end = text.length - tail.length;
  let at = head.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return text.endsWith(tail);
}
