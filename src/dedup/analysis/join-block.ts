/**
 * The record of a join in one buffer that is stored as it is.
 *
 * Little-endian:
 *
 * ```text
 * bytes 0…3    magic            4…7 texts n       8…11 pairs p
 *      12…43   fingerprint of the parameters that the candidates depend on
 *      44…     n × 32 bytes     hashes of the texts, ascending
 *              p × 4 bytes      the lower text of each pair, then p × 4 bytes the higher one, then
 *              p × 2 bytes      equal sketch values
 * ```
 */
import type { Pairs } from "../../../workers/join/pair-list.ts";
import type { ClassIndex } from "./class-index.ts";
import type { Candidates } from "./neighbours.ts";

const MAGIC = 0x4e494f4a;
const HEAD_BYTES = 44;
const HASH_BYTES = 32;
const PAIR_BYTES = 10;

/** Texts of a run: their hashes, and which of them have a signature. */
export interface JoinedTexts {
  readonly classIndex: ClassIndex;
  readonly isSigned: (text: number) => boolean;
}

/** A record as it is stored; all parts are views. */
export interface StoredJoin extends Pairs {
  readonly texts: number;
  readonly hashes: Uint8Array;
}

/** The record of a join: the texts that have a signature, and their candidates. */
export function writeJoin(
  fingerprint: Uint8Array,
  { classIndex, isSigned, starts, highs, equal }: JoinedTexts & Candidates,
): ArrayBuffer {
  const classes = starts.length - 1;
  const numberOf = new Uint32Array(classes);
  let texts = 0;
  for (let one = 0; one < classes; one += 1) if (isSigned(one)) numberOf[one] = texts++;
  const pairs = highs.length;
  const pairsAt = HEAD_BYTES + texts * HASH_BYTES;
  const buffer = new ArrayBuffer(pairsAt + pairs * PAIR_BYTES);
  const bytes = new Uint8Array(buffer);
  new Uint32Array(buffer, 0, 3).set([MAGIC, texts, pairs]);
  bytes.set(fingerprint.subarray(0, HASH_BYTES), 12);
  for (let one = 0; one < classes; one += 1)
    if (isSigned(one))
      bytes.set(
        classIndex.hashes.subarray(one * HASH_BYTES, (one + 1) * HASH_BYTES),
        HEAD_BYTES + (numberOf[one] ?? 0) * HASH_BYTES,
      );
  const low = new Uint32Array(buffer, pairsAt, pairs);
  for (let one = 0; one < classes; one += 1)
    low.fill(numberOf[one] ?? 0, starts[one], starts[one + 1]);
  new Uint32Array(buffer, pairsAt + 4 * pairs, pairs).set(highs.map((high) => numberOf[high] ?? 0));
  new Uint16Array(buffer, pairsAt + 8 * pairs, pairs).set(equal);
  return buffer;
}

/** The fingerprint of a record. Throws an error with code `corrupt` when it is none. */
export function fingerprintOfJoin(buffer: ArrayBuffer): Uint8Array {
  const [magic, texts = 0, pairs = 0] =
    buffer.byteLength < HEAD_BYTES ? [] : new Uint32Array(buffer, 0, 3);
  const length = HEAD_BYTES + texts * HASH_BYTES + pairs * PAIR_BYTES;
  if (magic !== MAGIC || length !== buffer.byteLength)
    throw Object.assign(new Error("a record of a join is damaged"), { code: "corrupt" });
  return new Uint8Array(buffer, 12, HASH_BYTES);
}

/** The parts of a record. Throws like `fingerprintOfJoin`. */
export function readJoin(buffer: ArrayBuffer): StoredJoin {
  fingerprintOfJoin(buffer);
  const [, texts = 0, pairs = 0] = new Uint32Array(buffer, 0, 3);
  const pairsAt = HEAD_BYTES + texts * HASH_BYTES;
  return {
    texts,
    hashes: new Uint8Array(buffer, HEAD_BYTES, texts * HASH_BYTES),
    low: new Uint32Array(buffer, pairsAt, pairs),
    high: new Uint32Array(buffer, pairsAt + 4 * pairs, pairs),
    equal: new Uint16Array(buffer, pairsAt + 8 * pairs, pairs),
  };
}
