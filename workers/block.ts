/**
 * A block: the signatures of up to a few hundred texts in one buffer that is sent, stored and read
 * as it is. All numbers are 32-bit little-endian words.
 *
 * ```text
 * word 0   magic          1 version      2 classes n     3 sketch values K     4 bands B     5 words of the whole block
 *      6…13               fingerprint of the signature parameters, 32 bytes
 * hashes   n × 32 bytes   SHA-256 of each normalised text
 * bands    n × B words    band keys, class after class
 * sketch   n × stride(K)  lowest byte of every sketch value, padded to words by zeros
 * ```
 */
import { sketchStride } from "./sketch/estimate.ts";

const MAGIC = 0x4b4c4253;
const VERSION = 2;
const HEADER_WORDS = 14;
const HASH_BYTES = 32;

/** What is kept of one text. */
export interface Signature {
  /** 32 bytes. */
  readonly hash: Uint8Array;
  readonly bands: Uint32Array;
  /** K bytes, or K padded to words. */
  readonly sketch: Uint8Array;
}

/** A block's parts as views; nothing is copied. */
export interface Block {
  readonly classes: number;
  readonly sketchSize: number;
  readonly numBands: number;
  readonly fingerprint: Uint8Array;
  readonly hashes: Uint8Array;
  readonly bands: Uint32Array;
  readonly sketches: Uint8Array;
}

interface Layout {
  readonly bands: number;
  readonly sketches: number;
  readonly end: number;
}

/** Positions in words. */
function layoutOf(classes: number, sketchSize: number, numBands: number): Layout {
  const bands = HEADER_WORDS + (classes * HASH_BYTES) / 4;
  const sketches = bands + classes * numBands;
  return { bands, sketches, end: sketches + (classes * sketchStride(sketchSize)) / 4 };
}

/** One block of all the signatures, in their order. */
export function writeBlock(
  fingerprint: Uint8Array,
  shape: { sketchSize: number; numBands: number },
  signatures: readonly Signature[],
): ArrayBuffer {
  const layout = layoutOf(signatures.length, shape.sketchSize, shape.numBands);
  const words = new Uint32Array(layout.end);
  const bytes = new Uint8Array(words.buffer);
  words.set([MAGIC, VERSION, signatures.length, shape.sketchSize, shape.numBands, layout.end]);
  bytes.set(fingerprint.subarray(0, HASH_BYTES), 6 * 4);
  for (const [i, signature] of signatures.entries()) {
    bytes.set(signature.hash, HEADER_WORDS * 4 + i * HASH_BYTES);
    words.set(signature.bands, layout.bands + i * shape.numBands);
    bytes.set(signature.sketch, layout.sketches * 4 + i * sketchStride(shape.sketchSize));
  }
  return words.buffer;
}

/**
 * The parts of a block that begins at the start of `buffer`. Throws an error with code `corrupt`
 * when it is none.
 */
export function readBlock(buffer: ArrayBufferLike): Block {
  if (buffer.byteLength % 4 !== 0 || buffer.byteLength < HEADER_WORDS * 4)
    throw damaged("its length");
  const words = new Uint32Array(buffer);
  const [magic, version, classes = 0, sketchSize = 0, numBands = 0, total] = words;
  if (magic !== MAGIC || version !== VERSION) throw damaged("its head");
  const layout = layoutOf(classes, sketchSize, numBands);
  if (total !== words.length || layout.end !== words.length) throw damaged("its size");
  const bytes = (from: number, to: number): Uint8Array =>
    new Uint8Array(buffer, from * 4, (to - from) * 4);
  return {
    classes,
    sketchSize,
    numBands,
    fingerprint: bytes(6, HEADER_WORDS),
    hashes: bytes(HEADER_WORDS, layout.bands),
    bands: words.subarray(layout.bands, layout.sketches),
    sketches: bytes(layout.sketches, layout.end),
  };
}

/** The signature of one class, as views. */
export function signatureAt(block: Block, index: number): Signature {
  const stride = sketchStride(block.sketchSize);
  return {
    hash: block.hashes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES),
    bands: block.bands.subarray(index * block.numBands, (index + 1) * block.numBands),
    sketch: block.sketches.subarray(index * stride, (index + 1) * stride),
  };
}

function damaged(what: string): Error {
  return Object.assign(new Error(`a block of signatures is damaged: ${what} is wrong`), {
    code: "corrupt",
  });
}
