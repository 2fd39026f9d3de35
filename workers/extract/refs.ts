/** What a document may be called by its archive. */

/** The longest ref in UTF-8: it is part of an index key. */
const REF_BYTES = 1_200;

/** Whether a ref can be stored. */
export function refFits(ref: string): boolean {
  return ref.length <= REF_BYTES && Buffer.byteLength(ref) <= REF_BYTES;
}
