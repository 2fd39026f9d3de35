/** Shingles: every window of consecutive words as one 32-bit number, and their set. */
import { kernel } from "../wasm/kernel.ts";
import type { ReadText } from "./read-text.ts";

/**
 * The distinct hashes of all windows of the text that was read last, ascending; empty when it has
 * fewer words than a window. Of 32-bit hashes two windows meet by chance once in four thousand
 * million pairs.
 */
export function shinglesOf({ shingles }: ReadText): Uint32Array<ArrayBuffer> {
  const { functions, words, at } = kernel();
  const start = at.shingles >> 2;
  return words.slice(start, start + functions.distinct(shingles));
}
