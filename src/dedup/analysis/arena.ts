/**
 * The classes of one analysis in memory: the shared columns that workers read, and where the rest
 * of each signature is stored.
 */
import { assert } from "../../kernel/base/errors.ts";
import { signatureAt } from "../../../workers/block.ts";
import type { Block } from "../../../workers/block.ts";
import type { Columns } from "../../../workers/join/columns.ts";
import { sketchStride } from "../../../workers/sketch/estimate.ts";
import type { ClassIndex } from "./class-index.ts";

/** How much of a block the analysis took. */
interface Adopted {
  readonly live: number;
  readonly total: number;
}

/** Signatures arrive block by block; when all are there, `columns` hands them to the workers. */
export interface Arena {
  /** Classes that have a signature. */
  readonly signed: number;
  isSigned(index: number): boolean;
  /** Takes the classes of a block that belong to the analysis and have no signature yet. */
  adopt(id: number, block: Block): Adopted;
  /** Notes that classes now live in another block. */
  move(id: number, block: Block): void;
  /** Whether a class (or -1) lives at this place. */
  isAt(index: number, block: number, slot: number): boolean;
  /** Block and place in it of a signed class. */
  location(index: number): { readonly block: number; readonly slot: number };
  /** Words that the payload of a class takes. */
  payloadWords(index: number): number;
  columns(): Columns;
}

/** An empty arena: about 600 bytes a class with 256 values and 64 bands, and its tokens. */
export function createArena(
  classIndex: ClassIndex,
  shape: { readonly numBands: number; readonly sketchSize: number },
): Arena {
  const classes = classIndex.hashes.length / 32;
  const stride = sketchStride(shape.sketchSize);
  const bands = new Uint32Array(new SharedArrayBuffer(classes * shape.numBands * 4));
  const sketches = new Uint8Array(new SharedArrayBuffer(classes * stride));
  const setSizes = new Uint32Array(new SharedArrayBuffer(classes * 4));
  const tokenStarts = new Uint32Array(new SharedArrayBuffer(classes * 4));
  const blockOf = new Uint32Array(classes);
  const slotOf = new Uint32Array(classes);
  const wordsOf = new Uint32Array(classes);
  const tokens = createWordHeap();
  let signed = 0;

  function take(index: number, id: number, slot: number, block: Block): void {
    const signature = signatureAt(block, slot);
    bands.set(signature.bands, index * shape.numBands);
    sketches.set(signature.sketch, index * stride);
    setSizes[index] = signature.set.length;
    tokenStarts[index] = tokens.push(signature.tokens);
    wordsOf[index] =
      signature.tokens.length + signature.set.length + Math.ceil(signature.sample.length / 4);
    blockOf[index] = id;
    slotOf[index] = slot;
    signed += 1;
  }

  return {
    get signed() {
      return signed;
    },
    isSigned: (index) => (blockOf[index] ?? 0) !== 0,
    adopt(id, block) {
      assert(
        id > 0 && block.numBands === shape.numBands && block.sketchSize === shape.sketchSize,
        "a block has the shape of the analysis",
      );
      let live = 0;
      for (let slot = 0; slot < block.classes; slot += 1) {
        const index = classIndex.find(block.hashes.subarray(slot * 32, (slot + 1) * 32));
        if (index < 0 || blockOf[index] !== 0) continue;
        take(index, id, slot, block);
        live += 1;
      }
      return { live, total: block.classes };
    },
    move(id, block) {
      for (let slot = 0; slot < block.classes; slot += 1) {
        const index = classIndex.find(block.hashes.subarray(slot * 32, (slot + 1) * 32));
        blockOf[index] = id;
        slotOf[index] = slot;
      }
    },
    isAt: (index, block, slot) => index >= 0 && blockOf[index] === block && slotOf[index] === slot,
    location: (index) => ({ block: blockOf[index] ?? 0, slot: slotOf[index] ?? 0 }),
    payloadWords: (index) => wordsOf[index] ?? 0,
    columns: () => ({
      classes,
      numBands: shape.numBands,
      sketchSize: shape.sketchSize,
      bands: bands.buffer,
      sketches: sketches.buffer,
      setSizes: setSizes.buffer,
      tokenStarts: tokenStarts.buffer,
      tokens: tokens.share(),
    }),
  };
}

interface WordHeap {
  /** Position of what was added. */
  push(words: Uint32Array): number;
  share(): SharedArrayBuffer;
}

/** Words end to end in chunks, so that growing copies nothing. */
function createWordHeap(): WordHeap {
  const CHUNK_WORDS = 2 ** 18;
  const chunks: { words: Uint32Array; used: number }[] = [];
  let total = 0;
  return {
    push(words) {
      let chunk = chunks.at(-1);
      if (!chunk || chunk.used + words.length > chunk.words.length)
        chunks.push(
          (chunk = { words: new Uint32Array(Math.max(CHUNK_WORDS, words.length)), used: 0 }),
        );
      chunk.words.set(words, chunk.used);
      chunk.used += words.length;
      total += words.length;
      return total - words.length;
    },
    share() {
      const all = new Uint32Array(new SharedArrayBuffer(total * 4));
      let at = 0;
      for (const chunk of chunks) {
        all.set(chunk.words.subarray(0, chunk.used), at);
        at += chunk.used;
      }
      return all.buffer;
    },
  };
}
