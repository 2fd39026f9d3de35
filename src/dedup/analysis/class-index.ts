/** Finds a class by its hash. */
import { createHashTable } from "./hash-table.ts";

/** Hashes with their class numbers, in order. */
export interface ClassIndex {
  /** All hashes, 32 bytes a class. */
  readonly hashes: Uint8Array<ArrayBuffer>;
  /** The class with the hash that begins at `at` in `bytes`, or -1. */
  find(bytes: Uint8Array, at?: number): number;
}

/** An index over distinct hashes. */
export function createClassIndex(classes: readonly { readonly hash: Uint8Array }[]): ClassIndex {
  const table = createHashTable(classes.length);
  for (const { hash } of classes) table.add(hash);
  return { hashes: table.hashes, find: (bytes, at) => table.find(bytes, at) };
}
