/**
 * The part of the routes that a listener serves: one listener for all, or a second one for the
 * administrator.
 */
import { Access } from "../../src/gen/steward/options/v1/options_pb.ts";
import type { DialectName } from "../../src/kernel/wire/style.ts";
import { ASSETS_TEMPLATE } from "../web/assets.ts";

/**
 * All routes, all but the admin surface, or the admin surface alone. Rpc is served with `gateway`,
 * probes everywhere.
 */
export type Surface = "all" | "gateway" | "admin";

/** The properties of a route that select its surface. */
export interface ServedRoute {
  readonly access: Access;
  readonly dialect: DialectName;
  readonly template: { readonly text: string };
}

/**
 * Whether a surface serves a REST route. Without `landing` the admin surface only has `/debug/`.
 */
export function isServedBy(
  surface: Surface,
  landing: boolean,
  { access, dialect, template }: ServedRoute,
): boolean {
  // Every listener has pages, if only the one for an unknown path.
  if (template.text === ASSETS_TEMPLATE) return true;
  if (dialect !== "monitor" || access !== Access.ADMIN) return surface !== "admin";
  return surface !== "gateway" && (landing || template.text.startsWith("/debug/"));
}
