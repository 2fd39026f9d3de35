/** Finds a class by its hash: open addressing over typed arrays, 40 bytes a class. */

const HASH_BYTES = 32;

/** Hashes with their class numbers, in order. */
export interface ClassIndex {
  /** All hashes, 32 bytes a class. */
  readonly hashes: Uint8Array<ArrayBuffer>;
  /** The class with this hash, or -1. */
  find(hash: Uint8Array): number;
  /** Order of two classes by hash: negative, 0 or positive. */
  compare(a: number, b: number): number;
}

/** An index over distinct hashes; of equal ones the first is found. */
export function createClassIndex(classes: readonly { readonly hash: Uint8Array }[]): ClassIndex {
  const slots = 2 ** Math.ceil(Math.log2(Math.max(8, classes.length * 2)));
  const table = new Int32Array(slots).fill(-1);
  const hashes = new Uint8Array(classes.length * HASH_BYTES);
  const bytes = Buffer.from(hashes.buffer);

  // A hash is uniform already, so its first four bytes choose the slot.
  function slotOf(hash: Uint8Array): number {
    const start =
      ((hash[0] ?? 0) | ((hash[1] ?? 0) << 8) | ((hash[2] ?? 0) << 16) | ((hash[3] ?? 0) << 24)) &
      (slots - 1);
    for (let slot = start; ; slot = (slot + 1) & (slots - 1)) {
      const known = table[slot] ?? -1;
      if (
        known === -1 ||
        bytes.compare(hash, 0, HASH_BYTES, known * HASH_BYTES, (known + 1) * HASH_BYTES) === 0
      )
        return slot;
    }
  }

  for (const [i, { hash }] of classes.entries()) {
    hashes.set(hash.subarray(0, HASH_BYTES), i * HASH_BYTES);
    const slot = slotOf(hash);
    if (table[slot] === -1) table[slot] = i;
  }
  return {
    hashes,
    find: (hash) => table[slotOf(hash)] ?? -1,
    compare: (a, b) =>
      bytes.compare(
        bytes,
        b * HASH_BYTES,
        (b + 1) * HASH_BYTES,
        a * HASH_BYTES,
        (a + 1) * HASH_BYTES,
      ),
  };
}
