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
 * table    n × 4 words    per class: first word of its payload in the block, words of tokens, words of the set, bytes of the sample
 * payloads                per class: six 16-bit token counts and the token hashes · the shingle set, ascending · the
 *                         sample, zstd, padded to words
 * ```
 */
import { sketchStride } from "./sketch/estimate.ts";

const MAGIC = 0x4b4c4253;
const VERSION = 1;
const HEADER_WORDS = 14;
const HASH_BYTES = 32;
/** Words of one row of the table of payloads. */
export const TABLE_WORDS = 4;
/** Words that the token counts take at the head of a payload. */
export const COUNT_WORDS = 3;

/** What is kept of one text. */
export interface Signature {
  /** 32 bytes. */
  readonly hash: Uint8Array;
  readonly bands: Uint32Array;
  /** K bytes, or K padded to words. */
  readonly sketch: Uint8Array;
  /** Six counts as three words, then the hashes. */
  readonly tokens: Uint32Array;
  readonly set: Uint32Array;
  readonly sample: Uint8Array;
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
  readonly table: Uint32Array;
  /** The whole block; the table's positions refer to it. */
  readonly words: Uint32Array;
}

interface Layout {
  readonly hashes: number;
  readonly bands: number;
  readonly sketches: number;
  readonly table: number;
  readonly payloads: number;
}

function layoutOf(classes: number, sketchSize: number, numBands: number): Layout {
  const bands = HEADER_WORDS + (classes * HASH_BYTES) / 4;
  const sketches = bands + classes * numBands;
  const table = sketches + (classes * sketchStride(sketchSize)) / 4;
  return { hashes: HEADER_WORDS, bands, sketches, table, payloads: table + classes * TABLE_WORDS };
}

function payloadWords(signature: Signature): number {
  return signature.tokens.length + signature.set.length + Math.ceil(signature.sample.length / 4);
}

/** One block of all the signatures, in their order. */
export function writeBlock(
  fingerprint: Uint8Array,
  shape: { sketchSize: number; numBands: number },
  signatures: readonly Signature[],
): ArrayBuffer {
  const layout = layoutOf(signatures.length, shape.sketchSize, shape.numBands);
  const total = signatures.reduce(
    (sum, signature) => sum + payloadWords(signature),
    layout.payloads,
  );
  const words = new Uint32Array(total);
  const bytes = new Uint8Array(words.buffer);
  words.set([MAGIC, VERSION, signatures.length, shape.sketchSize, shape.numBands, total]);
  bytes.set(fingerprint.subarray(0, HASH_BYTES), 6 * 4);
  let at = layout.payloads;
  for (const [i, signature] of signatures.entries()) {
    bytes.set(signature.hash, layout.hashes * 4 + i * HASH_BYTES);
    words.set(signature.bands, layout.bands + i * shape.numBands);
    bytes.set(signature.sketch, layout.sketches * 4 + i * sketchStride(shape.sketchSize));
    words.set(
      [at, signature.tokens.length, signature.set.length, signature.sample.length],
      layout.table + i * TABLE_WORDS,
    );
    words.set(signature.tokens, at);
    words.set(signature.set, at + signature.tokens.length);
    bytes.set(signature.sample, (at + signature.tokens.length + signature.set.length) * 4);
    at += payloadWords(signature);
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
  if (total !== words.length || layout.payloads > words.length) throw damaged("its size");
  const bytes = (from: number, to: number): Uint8Array =>
    new Uint8Array(buffer, from * 4, (to - from) * 4);
  const table = words.subarray(layout.table, layout.payloads);
  checkTable(table, layout.payloads, words.length);
  return {
    classes,
    sketchSize,
    numBands,
    table,
    words,
    fingerprint: bytes(6, HEADER_WORDS),
    hashes: bytes(layout.hashes, layout.bands),
    bands: words.subarray(layout.bands, layout.sketches),
    sketches: bytes(layout.sketches, layout.table),
  };
}

/** The signature of one class, as views. */
export function signatureAt(block: Block, index: number): Signature {
  const stride = sketchStride(block.sketchSize);
  const [start = 0, tokens = 0, set = 0, sample = 0] = block.table.subarray(
    index * TABLE_WORDS,
    (index + 1) * TABLE_WORDS,
  );
  return {
    hash: block.hashes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES),
    bands: block.bands.subarray(index * block.numBands, (index + 1) * block.numBands),
    sketch: block.sketches.subarray(index * stride, (index + 1) * stride),
    tokens: block.words.subarray(start, start + tokens),
    set: block.words.subarray(start + tokens, start + tokens + set),
    sample: new Uint8Array(
      block.words.buffer,
      block.words.byteOffset + (start + tokens + set) * 4,
      sample,
    ),
  };
}

function checkTable(table: Uint32Array, first: number, end: number): void {
  let at = first;
  for (let row = 0; row < table.length; row += TABLE_WORDS) {
    const [start, tokens = 0, set = 0, sample = 0] = table.subarray(row, row + TABLE_WORDS);
    if (start !== at || tokens < COUNT_WORDS) throw damaged("its table");
    at += tokens + set + Math.ceil(sample / 4);
  }
  if (at !== end) throw damaged("its table");
}

function damaged(what: string): Error {
  return Object.assign(new Error(`a block of signatures is damaged: ${what} is wrong`), {
    code: "corrupt",
  });
}
