/** Which Steward this is. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The version of this Steward, e.g. `0.1.0`. */
export function stewardVersion(): string {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")) as { readonly version: string };
  return manifest.version;
}

/** What `-version` prints: `steward 0.1.0 (node 24.21.0)`. */
export function versionLine(): string {
  return `steward ${stewardVersion()} (node ${process.versions.node})`;
}
