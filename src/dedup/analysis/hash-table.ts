/** Numbers hashes in the order in which they come: open addressing over typed arrays. */

const HASH_BYTES = 32;

/** Distinct hashes of 32 bytes, numbered from 0; 40 to 80 bytes each. */
export interface HashTable {
  readonly size: number;
  /** All hashes, 32 bytes each; a view that the next `add` may leave behind. */
  readonly hashes: Uint8Array<ArrayBuffer>;
  /** The number of the hash that begins at `at` in `bytes`, or -1. */
  find(bytes: Uint8Array, at?: number): number;
  /** The same, taken in when it is new. */
  add(bytes: Uint8Array, at?: number): number;
}

/** An empty table with room for `capacity` hashes; it grows. */
export function createHashTable(capacity = 1_024): HashTable {
  let hashes = new Uint8Array(Math.max(1, capacity) * HASH_BYTES);
  let slots = new Int32Array(2 ** Math.ceil(Math.log2(Math.max(8, capacity * 2)))).fill(-1);
  let size = 0;

  // A hash is uniform already, so its first four bytes choose the slot.
  function slotOf(bytes: Uint8Array, at: number): number {
    const mask = slots.length - 1;
    for (let slot = headOf(bytes, at) & mask; ; slot = (slot + 1) & mask) {
      const known = slots[slot] ?? -1;
      if (known === -1 || isEqual(hashes, known * HASH_BYTES, bytes, at)) return slot;
    }
  }

  function grow(): void {
    const before = hashes;
    hashes = new Uint8Array(before.length * 2);
    hashes.set(before);
    if (slots.length >= 4 * size) return;
    slots = new Int32Array(slots.length * 2).fill(-1);
    for (let one = 0; one < size; one += 1) slots[slotOf(hashes, one * HASH_BYTES)] = one;
  }

  return {
    get size() {
      return size;
    },
    get hashes() {
      return hashes.subarray(0, size * HASH_BYTES);
    },
    find: (bytes, at = 0) => slots[slotOf(bytes, at)] ?? -1,
    add(bytes, at = 0) {
      const known = slots[slotOf(bytes, at)] ?? -1;
      if (known >= 0) return known;
      if (size * HASH_BYTES === hashes.length) grow();
      for (let i = 0; i < HASH_BYTES; i += 1) hashes[size * HASH_BYTES + i] = bytes[at + i] ?? 0;
      slots[slotOf(bytes, at)] = size;
      size += 1;
      return size - 1;
    },
  };
}

function headOf(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] ?? 0) |
    ((bytes[at + 1] ?? 0) << 8) |
    ((bytes[at + 2] ?? 0) << 16) |
    ((bytes[at + 3] ?? 0) << 24)
  );
}

function isEqual(a: Uint8Array, atA: number, b: Uint8Array, atB: number): boolean {
  for (let i = 0; i < HASH_BYTES; i += 1) if (a[atA + i] !== b[atB + i]) return false;
  return true;
}
