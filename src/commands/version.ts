/** Which Steward this is. */
import { readFileSync } from "node:fs";

/** The version of this Steward, e.g. `0.1.0`. */
export function stewardVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { readonly version: string };
  return manifest.version;
}

/** What `-version` prints: `steward 0.1.0 (node 24.21.0)`. */
export function versionLine(): string {
  return `steward ${stewardVersion()} (node ${process.versions.node})`;
}
