/** What the tests say of single texts: identity and words in plain TypeScript, shingles. */
import { hash } from "node:crypto";
import { readText } from "../../../workers/text/read-text.ts";
import type { TextInput } from "../../../workers/text/read-text.ts";
import { shinglesOf } from "../../../workers/text/shingles.ts";

/** SHA-256 of the normalised text in UTF-8, 32 bytes. */
export function textHash(normalised: string): Uint8Array {
  return hash("sha256", normalised, "buffer");
}

/** How many words a normalised text has. */
export function countWords(normalised: string): number {
  return normalised === "" ? 0 : normalised.split(" ").length;
}

/** The distinct shingles of a text, as the analysis makes them. */
export function shingleSet(text: TextInput, ngramSize: number): Uint32Array<ArrayBuffer> {
  return shinglesOf(readText(text, ngramSize));
}
