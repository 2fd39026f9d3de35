/** How much a credential may do, as one word for its list of scopes. */

/** From the least to the most. */
export const scopeClasses = ["none", "read", "all_read", "write", "all"] as const;

/** One of them. */
export type ScopeClass = (typeof scopeClasses)[number];

/** The class of the scope that allows most. */
export function scopeClass(scopes: readonly string[]): ScopeClass {
  const highest = scopes.reduce(
    (rank, scope) => Math.max(rank, scopeClasses.indexOf(classOf(scope.trim().toLowerCase()))),
    0,
  );
  return scopeClasses[highest] ?? "none";
}

function classOf(scope: string): ScopeClass {
  if (scope === "") return "none";
  if (scope === "all") return "all";
  if (scope === "all:read") return "all_read";
  return scope.split(":").at(-1) === "read" ? "read" : "write";
}
