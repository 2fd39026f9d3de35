/** The order of texts by their hash, which no result depends on the input for. */
import { sortByKey } from "../../../workers/join/sort.ts";

/** Two ways to name a text: its rank by hash, and its place in the input. */
export interface TextOrder {
  /** The place of each rank. */
  readonly inputOf: Uint32Array;
  /** The rank of each place: all ranks in the order of the input. */
  readonly rankOf: Uint32Array;
}

/** Ranks distinct hashes by their bytes; a radix sort of the first four, then the rest of ties. */
export function orderByHash(texts: readonly { readonly hash: Uint8Array }[]): TextOrder {
  const keys = new Uint32Array(texts.length);
  for (const [at, { hash }] of texts.entries())
    keys[at] =
      ((hash[0] ?? 0) << 24) | ((hash[1] ?? 0) << 16) | ((hash[2] ?? 0) << 8) | (hash[3] ?? 0);
  const places = Uint32Array.from(texts.keys());
  const { keys: sorted, classes: inputOf } = sortByKey(keys, places);
  for (let start = 0; start < sorted.length;) {
    let end = start + 1;
    while (end < sorted.length && sorted[end] === sorted[start]) end += 1;
    if (end - start > 1)
      inputOf
        .subarray(start, end)
        .sort((a, b) => Buffer.compare(texts[a]?.hash ?? EMPTY, texts[b]?.hash ?? EMPTY));
    start = end;
  }
  const rankOf = new Uint32Array(inputOf.length);
  for (const [rank, place] of inputOf.entries()) rankOf[place] = rank;
  return { inputOf, rankOf };
}

const EMPTY = new Uint8Array();
