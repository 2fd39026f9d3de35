/**
 * Compares the scopes requested for an OAuth client with what collectors need. Advisory: only the
 * control plane knows what it grants.
 */

export type ScopeStatus = "satisfied" | "insufficient" | "unknown" | "not_applicable";

/** For each need the alternatives, one of which suffices; undefined when unknown. */
export type RequiredScopes = readonly (readonly string[])[] | undefined;

/** Deprecated spellings, accepted as equivalent. */
const older: ReadonlyMap<string, string> = new Map([
  ["device_invites:read", "devices_invites:read"],
  ["oauth_apps:read", "oauth_keys:read"],
]);

/**
 * Whether `granted` covers `scope`: by `all`, `all:read` for read scopes, the scope itself, or its
 * write form.
 */
export function coversScope(granted: readonly string[], scope: string): boolean {
  const has = new Set(granted.map((each) => each.trim().toLowerCase()));
  return [scope, older.get(scope)].some((spelling) => {
    if (spelling === undefined) return false;
    const wanted = spelling.trim().toLowerCase();
    const reads = wanted.endsWith(":read");
    return (
      has.has("all") ||
      has.has(wanted) ||
      (reads && (has.has("all:read") || has.has(wanted.slice(0, -":read".length))))
    );
  });
}

/**
 * Compares scopes. `granted` is undefined when the credential has no scopes. Also returns the
 * scopes that would help.
 */
export function compareScopes(
  granted: readonly string[] | undefined,
  required: RequiredScopes,
): { readonly status: ScopeStatus; readonly missing: readonly string[] } {
  if (required?.length === 0) return { status: "not_applicable", missing: [] };
  if (required === undefined || granted === undefined) return { status: "unknown", missing: [] };
  const missing = required
    .filter((alternatives) => !alternatives.some((scope) => coversScope(granted, scope)))
    .flat();
  return { status: missing.length === 0 ? "satisfied" : "insufficient", missing };
}
