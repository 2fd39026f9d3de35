/** Shingles: every window of consecutive words as one 32-bit number, and their set. */

const FNV_BASIS = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const SPACE = 0x20;

/**
 * The distinct hashes of all windows of `size` words joined by one space, ascending; empty when
 * there are fewer words. A window of a normalised text is a slice of it, so nothing is joined.
 * Hash: FNV-1a 32 over UTF-16 units.
 */
export function shingleSet(normalised: string, size: number): Uint32Array<ArrayBuffer> {
  const starts = wordStarts(normalised);
  const windows = starts.length - size;
  if (windows < 1) return new Uint32Array(0);
  const hashes = new Uint32Array(windows);
  for (let i = 0; i < windows; i += 1)
    hashes[i] = fnv1a(normalised, starts[i] ?? 0, (starts[i + size] ?? 0) - 1);
  return distinct(hashes.sort());
}

/** FNV-1a 32 over the UTF-16 units of a slice. */
export function fnv1a(text: string, start: number, end: number): number {
  let hash = FNV_BASIS;
  for (let i = start; i < end; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), FNV_PRIME);
  return hash >>> 0;
}

/** Where each word begins, and one past the space that would follow the last. */
function wordStarts(normalised: string): number[] {
  if (normalised.length === 0) return [0];
  const starts = [0];
  for (let i = 0; i < normalised.length; i += 1)
    if (normalised.charCodeAt(i) === SPACE) starts.push(i + 1);
  starts.push(normalised.length + 1);
  return starts;
}

function distinct(sorted: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  let kept = 1;
  for (let i = 1; i < sorted.length; i += 1) {
    const value = sorted[i] ?? 0;
    if (value !== sorted[kept - 1]) {
      sorted[kept] = value;
      kept += 1;
    }
  }
  return sorted.slice(0, kept);
}
