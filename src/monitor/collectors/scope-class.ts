/** Classifies a list of scopes by how much it permits. */

/** From least to most permissive. */
export const scopeClasses = ["none", "read", "all_read", "write", "all"] as const;

export type ScopeClass = (typeof scopeClasses)[number];

/** Class of the most permissive scope. */
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
