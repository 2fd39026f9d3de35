/** Scope of a token: decoding, validation before any call, and comparison with what was granted. */
import type { StewardError } from "../../kernel/base/errors.ts";
import { logicalError } from "../logical/occurred.ts";
import type { Data, PathRequest } from "../logical/types.ts";
import { permissionWarnings, reaches } from "./permission-names.ts";
import { permissionsOf } from "./platform/installations.ts";
import type { Permissions, Scope } from "./types.ts";

/** The platform's limit per list. */
const MAX_REPOSITORIES = 500;

const LISTS = ["repositories", "repository_ids", "permissions"] as const;

/** A decoded request. */
export interface ReadScope {
  readonly scope: Scope;
  /** Fields given as empty lists. */
  readonly emptied: readonly string[];
}

/** Reads and checks the fields that narrow a token. Throws `invalid`. */
export function readScope(request: PathRequest): ReadScope {
  const { fields, data } = request;
  const scope: Scope = {
    installationId: fields.integer("installation_id") ?? 0,
    orgName: fields.text("org_name")?.trim() ?? "",
    repositories: fields.texts("repositories") ?? [],
    repositoryIds: fields.integers("repository_ids") ?? [],
    permissions: Object.fromEntries(fields.pairs("permissions") ?? []),
  };
  checkScope(scope);
  const counts = {
    repositories: scope.repositories.length,
    repository_ids: scope.repositoryIds.length,
    permissions: Object.keys(scope.permissions).length,
  };
  // Null means no list, as reading a permission set shows it.
  return {
    scope,
    emptied: LISTS.filter((name) => fields.has(name) && data[name] !== null && counts[name] === 0),
  };
}

function checkScope(scope: Scope): void {
  if (scope.installationId === 0 && scope.orgName === "")
    throw logicalError("installation_id or org_name is a required parameter", {
      field: "installation_id",
      rule: "required",
    });
  if (scope.installationId < 0)
    throw refused(
      "installation_id",
      "installation_id must be above 0; read installations for those that the app has",
    );
  const slashed = scope.repositories.find((name) => name.includes("/"));
  if (slashed !== undefined)
    throw refused(
      "repositories",
      `repositories takes short names: write ${quote(slashed.slice(slashed.lastIndexOf("/") + 1))} instead of ${quote(slashed)}; the owner follows from the installation`,
    );
  for (const [field, list] of [
    ["repositories", scope.repositories],
    ["repository_ids", scope.repositoryIds],
  ] as const) {
    if (list.length > MAX_REPOSITORIES)
      throw refused(
        field,
        `${field} takes at most ${MAX_REPOSITORIES} repositories, not ${list.length}; request several tokens, or omit it for all repositories of the installation`,
      );
  }
}

/** Warnings about empty lists. Throws `invalid` where they are rejected. */
export function emptiedWarnings(emptied: readonly string[], strict: boolean): readonly string[] {
  if (emptied.length === 0) return [];
  const names = emptied.join(", ");
  if (strict)
    throw refused(
      emptied[0] ?? "",
      `${names} must not be empty, for an empty list counts as not given (strict_scopes); leave out what shall not be limited`,
    );
  return [
    `${names} given empty counts as not given: the token has the full scope of the installation there`,
  ];
}

/** Requested permissions within a mount's ceiling. Throws `invalid` above it. */
export function underCeiling(
  permissions: Permissions,
  ceiling: Permissions | undefined,
): Permissions {
  if (ceiling === undefined) return permissions;
  if (Object.keys(permissions).length === 0) return ceiling;
  const above = aboveCeiling(permissions, ceiling);
  if (above.length === 0) return permissions;
  const most = Object.entries(ceiling)
    .map(([name, level]) => `${name}=${level}`)
    .join(", ");
  throw refused(
    "permissions",
    `${above.slice(0, 10).join(", ")} is above max_permissions of this mount, which allow ${most === "" ? "nothing" : most}`,
  );
}

/**
 * Permissions that exceed a ceiling, as `name=level`. Reading metadata never does: the platform
 * grants it with every token.
 */
export function aboveCeiling(permissions: Permissions, ceiling: Permissions): readonly string[] {
  return Object.entries(permissions)
    .filter(([name, level]) => !reaches(own(ceiling, name), level))
    .map(([name, level]) => `${name}=${level}`)
    .filter((permission) => permission !== "metadata=read");
}

/** What is wrong with a granted token under a ceiling; undefined for nothing. */
export function grantAboveCeiling(
  granted: Data,
  ceiling: Permissions | undefined,
): string | undefined {
  if (ceiling === undefined) return undefined;
  if (!isObject(granted["permissions"]))
    return "without its permissions, so that max_permissions of this mount cannot be checked";
  const above = aboveCeiling(permissionsOf(granted["permissions"]), ceiling);
  return above.length === 0
    ? undefined
    : `with ${listed(above)}, which is above max_permissions of this mount`;
}

/** Body of the mint request: only fields that restrict the token. */
export function bodyOf(scope: Scope): string {
  const { permissions, repositories, repositoryIds } = scope;
  return JSON.stringify({
    ...(Object.keys(permissions).length === 0 ? {} : { permissions }),
    ...(repositoryIds.length === 0 ? {} : { repository_ids: repositoryIds }),
    ...(repositories.length === 0 ? {} : { repositories }),
  });
}

/** The scope for records; contains no secret. */
export function aboutScope(scope: Scope): Data {
  return {
    installation_id: scope.installationId,
    ...(scope.orgName === "" ? {} : { org_name: scope.orgName }),
    permissions: scope.permissions,
    repositories: scope.repositories,
    repository_ids: scope.repositoryIds,
  };
}

/** Likely mistakes that the platform may still accept. */
export function scopeWarnings(scope: Scope): readonly string[] {
  return permissionWarnings(scope.permissions);
}

/** Differences between the request and the grant. */
export function grantWarnings(scope: Scope, granted: Data): readonly string[] {
  const warnings: string[] = [];
  if (Object.keys(scope.permissions).length > 0 && isObject(granted["permissions"]))
    warnings.push(
      ...permissionDifferences(scope.permissions, permissionsOf(granted["permissions"])),
    );
  if (scope.repositories.length + scope.repositoryIds.length === 0) return warnings;
  if (granted["repository_selection"] === "all")
    warnings.push(
      "the token is for all repositories of the installation, although specific ones were requested",
    );
  else if (scope.repositoryIds.length === 0)
    warnings.push(...repositoryDifferences(scope.repositories, granted["repositories"]));
  return warnings;
}

// The platform adds `metadata: read` to every token.
function permissionDifferences(requested: Permissions, granted: Permissions): readonly string[] {
  const missing = Object.entries(requested)
    .filter(([name, level]) => !reaches(own(granted, name), level))
    .map(([name, level]) => `${name}=${level}`);
  const wider = Object.entries(granted)
    .filter(
      ([name, level]) =>
        !(name === "metadata" && level === "read") && !reaches(own(requested, name), level),
    )
    .map(([name, level]) => `${name}=${level}`);
  return [
    ...difference("the token lacks permissions that were requested", missing),
    ...difference("the token has more permissions than requested", wider),
  ];
}

function repositoryDifferences(requested: readonly string[], granted: unknown): readonly string[] {
  if (!Array.isArray(granted)) return [];
  const names = new Set(
    (granted as readonly unknown[]).map((one) =>
      isObject(one) && typeof one["name"] === "string" ? one["name"].toLowerCase() : "",
    ),
  );
  const wanted = new Set(requested.map((name) => name.toLowerCase()));
  return [
    ...difference(
      "the token lacks repositories that were requested",
      [...wanted].filter((name) => !names.has(name)),
    ),
    ...difference(
      "the token has more repositories than requested",
      [...names].filter((name) => name !== "" && !wanted.has(name)),
    ),
  ];
}

function difference(what: string, names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  return [`${what}: ${listed(names)}`];
}

function listed(names: readonly string[]): string {
  const first = names.slice(0, 10).map((name) => name.slice(0, 100));
  return `${first.join(", ")}${names.length > 10 ? ` and ${names.length - 10} more` : ""}`;
}

function own(permissions: Permissions, name: string): string | undefined {
  return Object.hasOwn(permissions, name) ? permissions[name] : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}

function refused(field: string, text: string): StewardError {
  return logicalError(text, { field, rule: "scope" });
}
