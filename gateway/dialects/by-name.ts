/** The surfaces by name and by path. */
import type { DialectName } from "../../src/kernel/wire/style.ts";
import { dedup } from "./dedup.ts";
import type { Dialect } from "./dialect.ts";
import { monitor } from "./monitor.ts";
import { vault } from "./vault.ts";

const dialects: Readonly<Record<DialectName, Dialect>> = { monitor, dedup, vault };

/** The surface of that name. */
export function dialectOf(name: DialectName): Dialect {
  return dialects[name];
}

/** The surface that answers for a path which no route serves. */
export function dialectOfPath(path: string): Dialect {
  if (path === "/api/v1" || path.startsWith("/api/v1/")) return dedup;
  return path === "/v1" || path.startsWith("/v1/") ? vault : monitor;
}
