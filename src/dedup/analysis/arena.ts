/**
 * The classes of one analysis in memory: the shared columns that workers read, and the block that
 * each signature is stored in.
 */
import { assert } from "../../kernel/base/errors.ts";
import type { Block } from "../../../workers/block.ts";
import type { Columns } from "../../../workers/join/columns.ts";
import { sketchStride } from "../../../workers/sketch/estimate.ts";
import type { ClassIndex } from "./class-index.ts";

/** How much of a block the analysis took. */
interface Adopted {
  readonly live: number;
  readonly total: number;
}

/** Parts of a block by words. */
interface Words {
  readonly bands: Uint32Array;
  readonly sketches: Uint32Array;
}

/** Signatures arrive block by block; when all are there, `columns` hands them to the workers. */
export interface Arena {
  /** Classes that have a signature. */
  readonly signed: number;
  readonly isSigned: (index: number) => boolean;
  /** Takes the classes of a block that belong to the analysis and have no signature yet. */
  adopt(id: number, block: Block): Adopted;
  /** Notes that classes now live in another block. */
  move(id: number, block: Block): void;
  /** Whether a class (or -1) lives at this place. */
  isAt(index: number, block: number, slot: number): boolean;
  columns(): Columns;
}

/** An empty arena: 521 bytes a class with 256 values and 64 bands. */
export function createArena(
  classIndex: ClassIndex,
  shape: { readonly numBands: number; readonly sketchSize: number },
): Arena {
  const classes = classIndex.hashes.length / 32;
  const stride = sketchStride(shape.sketchSize);
  const bands = new Uint32Array(new SharedArrayBuffer(classes * shape.numBands * 4));
  const sketches = new Uint32Array(new SharedArrayBuffer(classes * stride));
  const sketchWords = stride / 4;
  const present = new Uint8Array(new SharedArrayBuffer(classes));
  const blockOf = new Uint32Array(classes);
  const slotOf = new Uint32Array(classes);
  let signed = 0;

  function take(
    index: number,
    id: number,
    slot: number,
    { bands: keys, sketches: low }: Words,
  ): void {
    // By hand: a view for each of many small copies costs more than the copy.
    for (
      let i = 0, to = index * shape.numBands, from = slot * shape.numBands;
      i < shape.numBands;
      i += 1
    )
      bands[to + i] = keys[from + i] ?? 0;
    for (let i = 0, to = index * sketchWords, from = slot * sketchWords; i < sketchWords; i += 1)
      sketches[to + i] = low[from + i] ?? 0;
    present[index] = 1;
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
      const { buffer, byteOffset, length } = block.sketches;
      const words = {
        bands: block.bands,
        sketches: new Uint32Array(buffer, byteOffset, length / 4),
      };
      let live = 0;
      for (let slot = 0; slot < block.classes; slot += 1) {
        const index = classIndex.find(block.hashes, slot * 32);
        if (index < 0 || blockOf[index] !== 0) continue;
        take(index, id, slot, words);
        live += 1;
      }
      return { live, total: block.classes };
    },
    move(id, block) {
      for (let slot = 0; slot < block.classes; slot += 1) {
        const index = classIndex.find(block.hashes, slot * 32);
        blockOf[index] = id;
        slotOf[index] = slot;
      }
    },
    isAt: (index, block, slot) => index >= 0 && blockOf[index] === block && slotOf[index] === slot,
    columns: () => ({
      classes,
      numBands: shape.numBands,
      sketchSize: shape.sketchSize,
      bands: bands.buffer,
      sketches: sketches.buffer,
      signed: present.buffer,
    }),
  };
}
