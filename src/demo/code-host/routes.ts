/** Which operation a method and a path name. The same table is served at the root and below `/api/v3`. */

/** What can be asked of the host. */
export type Operation =
  | "app" | "installations" | "installation" | "org_installation" | "user_installation" | "enterprise_installation" | "repo_installation"
  | "mint" | "revoke" | "repositories" | "repository" | "rate_limit" | "unknown";

/** A request's place in the table. */
export interface Route {
  readonly operation: Operation;
  /** The variable segments, percent-decoded. */
  readonly params: readonly string[];
  /** `/api/v3` when the path began so. */
  readonly prefix: "" | "/api/v3";
}

const TABLE: readonly (readonly [method: string, path: string, operation: Operation])[] = [
  ["GET", "/app", "app"],
  ["GET", "/app/installations", "installations"],
  ["GET", "/app/installations/:id", "installation"],
  ["POST", "/app/installations/:id/access_tokens", "mint"],
  ["GET", "/orgs/:login/installation", "org_installation"],
  ["GET", "/organizations/:id/installation", "org_installation"],
  ["GET", "/users/:login/installation", "user_installation"],
  ["GET", "/user/:id/installation", "user_installation"],
  ["GET", "/enterprises/:slug/installation", "enterprise_installation"],
  ["GET", "/repos/:owner/:name/installation", "repo_installation"],
  ["GET", "/repositories/:id/installation", "repo_installation"],
  ["GET", "/repos/:owner/:name", "repository"],
  ["GET", "/repositories/:id", "repository"],
  ["DELETE", "/installation/token", "revoke"],
  ["GET", "/installation/repositories", "repositories"],
  ["GET", "/rate_limit", "rate_limit"],
];

/** Every operation, `unknown` last. */
export const OPERATIONS: readonly Operation[] = [...new Set(TABLE.map(([, , operation]) => operation)), "unknown"];

const compiled = TABLE.map(([method, path, operation]) => ({ method, segments: path.split("/"), operation }));
const LONGEST_PATH = 2048;

/** The place of a request; `path` without its query. */
export function routeOf(method: string, path: string): Route {
  const prefix = path.startsWith("/api/v3/") ? "/api/v3" : "";
  const segments = path.length > LONGEST_PATH ? [] : path.slice(prefix.length).split("/");
  for (const entry of compiled) {
    if (entry.method !== method || entry.segments.length !== segments.length) continue;
    const params = match(entry.segments, segments);
    if (params !== undefined) return { operation: entry.operation, params, prefix };
  }
  return { operation: "unknown", params: [], prefix };
}

function match(pattern: readonly string[], segments: readonly string[]): string[] | undefined {
  const params: string[] = [];
  for (const [index, expected] of pattern.entries()) {
    const segment = segments[index] ?? "";
    if (expected.startsWith(":")) {
      const decoded = decode(segment);
      if (decoded === undefined || decoded === "") return undefined;
      params.push(decoded);
    } else if (segment !== expected) return undefined;
  }
  return params;
}

function decode(segment: string): string | undefined {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined; // A malformed escape names nothing.
  }
}
