/** Shingles: every window of consecutive words as one 32-bit number, and their set. */
import { kernel } from "../wasm/kernel.ts";
import { readText } from "./read-text.ts";
import type { TextInput } from "./read-text.ts";

/**
 * The distinct hashes of all windows of `ngramSize` words, ascending; empty when there are fewer
 * words. Two windows of 32-bit hashes meet by chance once in four thousand million pairs.
 */
export function shingleSet(text: TextInput, ngramSize: number): Uint32Array<ArrayBuffer> {
  const { shingles } = readText(text, ngramSize);
  const { functions, words, at } = kernel();
  const start = at.shingles >> 2;
  return words.slice(start, start + functions.distinct(shingles));
}
