/** Selects the surface by name or path. */
import type { DialectName } from "../../src/kernel/wire/style.ts";
import { dedup } from "./dedup.ts";
import type { Dialect } from "./dialect.ts";
import { monitor } from "./monitor.ts";
import { vault } from "./vault.ts";

const dialects: Readonly<Record<DialectName, Dialect>> = { monitor, dedup, vault };

export function dialectOf(name: DialectName): Dialect {
  return dialects[name];
}

/** The surface for the error of an unknown path. */
export function dialectOfPath(path: string): Dialect {
  if (path === "/api/v1" || path.startsWith("/api/v1/")) return dedup;
  return path === "/v1" || path.startsWith("/v1/") ? vault : monitor;
}
