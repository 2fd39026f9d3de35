/**
 * Which part of what is served a listener answers for: one listener for all, or a second one for
 * what the administrator alone may see.
 */
import { Access } from "../../src/gen/steward/options/v1/options_pb.ts";
import type { DialectName } from "../../src/kernel/wire/style.ts";
import { ASSETS_TEMPLATE } from "../web/assets.ts";

/**
 * All of it, all but the admin surface, or the admin surface alone. Rpc stays where the house is,
 * and probes answer everywhere.
 */
export type Surface = "all" | "gateway" | "admin";

/** What is asked of a route. */
export interface ServedRoute {
  readonly access: Access;
  readonly dialect: DialectName;
  readonly template: { readonly text: string };
}

/**
 * Whether a route of REST is answered for by a surface. Without `landing` of the admin surface only
 * `/debug/` is left.
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
