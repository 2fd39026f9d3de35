/** Which part of what is served a listener answers for: one listener for all, or a second one for what the administrator alone may see (RESOLUTIONS §2, Listeners). */
import { Access } from "../../src/gen/steward/options/v1/options_pb.ts";
import type { DialectName } from "../../src/kernel/wire/style.ts";

/** All of it, all but the admin surface, or the admin surface alone. Rpc stays where the house is, and probes answer everywhere. */
export type Surface = "all" | "house" | "admin";

/** Whether a route of REST is answered for by a surface. */
export function isServedBy(surface: Surface, route: { readonly access: Access; readonly dialect: DialectName }): boolean {
  const isAdmin = route.dialect === "monitor" && route.access === Access.ADMIN;
  return surface === "all" || (surface === "admin") === isAdmin;
}
