/**
 * A block of verdicts: the scores of verified pairs of texts, in one buffer that is stored as it
 * is. Little-endian.
 *
 * ```text
 * bytes 0…3    magic          4…7 rows n
 *       8…39   fingerprint of the parameters that the scores depend on
 *      40…     n × 88 bytes   hashes of both texts, 32 bytes each, then three 64-bit floats: Jaccard
 *                             similarity, D, F
 * ```
 */
import type { KeptScores } from "./pair-table.ts";

const MAGIC = 0x44524556;
const HEAD_BYTES = 40;
const HASH_BYTES = 32;
const ROW_BYTES = 2 * HASH_BYTES + 3 * 8;

/** A pair of texts by their hashes, with its scores. */
export interface VerdictRow extends KeptScores {
  readonly a: Uint8Array;
  readonly b: Uint8Array;
}

/** One block of all the rows. */
export function writeVerdicts(fingerprint: Uint8Array, rows: readonly VerdictRow[]): ArrayBuffer {
  const buffer = new ArrayBuffer(HEAD_BYTES + rows.length * ROW_BYTES);
  const bytes = new Uint8Array(buffer);
  const view = new DataView(buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint32(4, rows.length, true);
  bytes.set(fingerprint.subarray(0, HASH_BYTES), 8);
  for (const [i, { a, b, jaccard, discriminative, fuzzy }] of rows.entries()) {
    const at = HEAD_BYTES + i * ROW_BYTES;
    bytes.set(a, at);
    bytes.set(b, at + HASH_BYTES);
    for (const [place, score] of [jaccard, discriminative, fuzzy].entries())
      view.setFloat64(at + 2 * HASH_BYTES + 8 * place, score, true);
  }
  return buffer;
}

/** The fingerprint of a block. Throws an error with code `corrupt` when it is none. */
export function fingerprintOfVerdicts(buffer: ArrayBuffer): Uint8Array {
  if (buffer.byteLength < HEAD_BYTES) throw damaged();
  const view = new DataView(buffer);
  const length = HEAD_BYTES + view.getUint32(4, true) * ROW_BYTES;
  if (view.getUint32(0, true) !== MAGIC || length !== buffer.byteLength) throw damaged();
  return new Uint8Array(buffer, 8, HASH_BYTES);
}

/** A stored row: its hashes begin at `a` and `b` in `bytes`. */
export interface StoredVerdict extends KeptScores {
  readonly bytes: Uint8Array;
  readonly a: number;
  readonly b: number;
}

/** The rows of a block. Throws like `fingerprintOfVerdicts`. */
export function* readVerdicts(buffer: ArrayBuffer): Generator<StoredVerdict> {
  fingerprintOfVerdicts(buffer);
  const view = new DataView(buffer);
  const bytes = new Uint8Array(buffer);
  for (let at = HEAD_BYTES; at < buffer.byteLength; at += ROW_BYTES) {
    const score = (place: number): number => view.getFloat64(at + 2 * HASH_BYTES + 8 * place, true);
    yield {
      bytes,
      a: at,
      b: at + HASH_BYTES,
      jaccard: score(0),
      discriminative: score(1),
      fuzzy: score(2),
    };
  }
}

function damaged(): Error {
  return Object.assign(new Error("a block of verdicts is damaged"), { code: "corrupt" });
}
