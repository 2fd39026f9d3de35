/**
 * Many byte strings as one: a list of views would be copied with the whole buffers behind them when
 * it crosses threads.
 */

/** Byte strings laid end to end. */
export interface Packed {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where each ends; it begins where the one before ends. */
  readonly ends: Uint32Array<ArrayBuffer>;
}

/** Copies the items into one buffer; together below 4 GiB. */
export function pack(items: readonly Uint8Array[]): Packed {
  const ends = new Uint32Array(items.length);
  let total = 0;
  for (const [i, item] of items.entries()) ends[i] = total += item.length;
  const bytes = new Uint8Array(total);
  for (const [i, item] of items.entries()) bytes.set(item, (ends[i] ?? 0) - item.length);
  return { bytes, ends };
}

/** A view of one item. */
export function itemOf(packed: Packed, index: number): Uint8Array<ArrayBuffer> {
  return packed.bytes.subarray(index === 0 ? 0 : packed.ends[index - 1], packed.ends[index]);
}
