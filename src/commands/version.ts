/** Which Steward this is. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The version of this Steward, e.g. `0.1.0`, which is all that `-version` prints: what compares versions reads it as it is (contract, monitor §9.3). */
export function stewardVersion(): string {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")) as { readonly version: string };
  return manifest.version;
}
