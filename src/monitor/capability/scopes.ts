/**
 * What an OAuth client asked for, held against what a collector needs. Advisory: only the control
 * plane knows what it grants.
 */

/** How the scopes of a credential stand towards what is needed. */
export type ScopeStatus = "satisfied" | "insufficient" | "unknown" | "not_applicable";

/** Alternatives, one of which is enough, for each thing that is needed; undefined is not known. */
export type RequiredScopes = readonly (readonly string[])[] | undefined;

/** Older spellings of a scope, accepted as granted. */
const older: ReadonlyMap<string, string> = new Map([
  ["device_invites:read", "devices_invites:read"],
  ["oauth_apps:read", "oauth_keys:read"],
]);

/**
 * Whether a granted set covers one scope: `all`, `all:read` for reading, the scope itself, or the
 * one that also writes.
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
 * How a credential stands, and which scopes would help. `granted` is undefined when the credential
 * has no scopes.
 */
export function judgeScopes(
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
