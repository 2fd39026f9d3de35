/** The identity of a normalised text in plain TypeScript, as the tests expect it. */
import { hash } from "node:crypto";

/** SHA-256 of the normalised text in UTF-8, 32 bytes. */
export function textHash(normalised: string): Uint8Array {
  return hash("sha256", normalised, "buffer");
}

/** How many words a normalised text has. */
export function countWords(normalised: string): number {
  return normalised === "" ? 0 : normalised.split(" ").length;
}
