/**
 * Which operation a method and a path name. The same table is served at the root and below
 * `/api/v3`.
 */

import { createRoutes, type RouteLine, type Routes } from "../routes.ts";

/** Operations of the host. */
export type Operation =
  | "app"
  | "installations"
  | "installation"
  | "org_installation"
  | "user_installation"
  | "enterprise_installation"
  | "repo_installation"
  | "mint"
  | "revoke"
  | "repositories"
  | "repository"
  | "rate_limit"
  | "unknown";

/** A request's place in the table. */
export interface Route {
  readonly operation: Operation;
  /** The variable segments, percent-decoded. */
  readonly params: readonly string[];
  /** `/api/v3` when the path began so. */
  readonly prefix: "" | "/api/v3";
}

const TABLE: readonly RouteLine<Operation>[] = [
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
export const OPERATIONS: readonly Operation[] = [
  ...new Set(TABLE.map(([, , operation]) => operation)),
  "unknown",
];

const routes: Routes<Operation> = createRoutes(TABLE);

/** The place of a request; `path` without its query. */
export function routeOf(method: string, path: string): Route {
  const prefix = path.startsWith("/api/v3/") ? "/api/v3" : "";
  return {
    ...(routes.find(method, path.slice(prefix.length)) ?? { operation: "unknown", params: [] }),
    prefix,
  };
}
