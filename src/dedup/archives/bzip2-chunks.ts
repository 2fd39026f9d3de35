/**
 * Unpacks a stream of bzip2 on the pool, block by block: a block is found by the magic number before
 * it, which may begin at any bit.
 */
import { BLOCK_MAGIC, END_MAGIC } from "../../../workers/extract/bzip2.ts";
import { unpackBzip2Block } from "../../../workers/extract/tasks.ts";
import type { Bzip2Block } from "../../../workers/extract/tasks.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import type { Chunk } from "./open-source.ts";

/** A block packs 900,000 bytes; damaged ones may have no end. */
const BLOCK_BYTES = 2 * 1024 * 1024;
const MAGIC_BITS = 48;
/** `BZh` and a digit, at the beginning of each stream. */
const HEADER_BITS = 32;
/** Of the whole stream, behind the mark of its end, which fills its last byte. */
const CHECKSUM_BITS = 32;

/** Finds the blocks in a stream of bytes. */
interface BlockFinder {
  /** The blocks that end in these bytes. Throws when one is missing or grows too long. */
  push(bytes: Uint8Array): Bzip2Block[];
  /** Whether the last block has its end, and its stream too. */
  complete(): boolean;
}

/** The unpacked bytes in order. Throws an error with the code `BZIP2_DATA` for damaged ones. */
export async function* unpackBzip2Chunks(
  chunks: AsyncGenerator<Chunk>,
  pool: Pool,
  signal: AbortSignal,
): AsyncGenerator<Chunk> {
  const finder = createBlockFinder();
  const fractions: number[] = [];
  async function* blocksOf(): AsyncGenerator<Bzip2Block> {
    for await (const { bytes, fraction } of chunks)
      for (const block of finder.push(bytes)) {
        fractions.push(fraction);
        yield block;
      }
  }
  for await (const bytes of pool.map(unpackBzip2Block, blocksOf(), { signal })) {
    if (bytes.byteLength === 0) throw damaged();
    yield { bytes, fraction: fractions.shift() ?? 1 };
  }
  if (!finder.complete()) throw damaged();
}

/** A finder at the beginning of a stream. */
function createBlockFinder(): BlockFinder {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  /** The first bit of the block under way within what is held; undefined between blocks. */
  let begin: number | undefined;
  /** Bits of the file before what is held. */
  let passed = 0;
  /** The bit of the file where the next magic number stands while no block is under way. */
  let due = HEADER_BITS;
  let ended = false;
  // The last 48 bits, as two halves of 24.
  let high = 0;
  let low = 0;
  return {
    complete: () => begin === undefined && ended,
    push(bytes) {
      const blocks: Bzip2Block[] = [];
      const offset = heldBytes;
      held.push(bytes);
      heldBytes += bytes.byteLength;
      let joined: Uint8Array | undefined;
      for (let at = 0; at < bytes.byteLength; at++) {
        const byte = bytes[at] ?? 0;
        for (let bit = 7; bit >= 0; bit--) {
          high = ((high << 1) | (low >>> 23)) & 0xffffff;
          low = ((low << 1) | ((byte >>> bit) & 1)) & 0xffffff;
          if (!isMagic(high, low)) continue;
          const first = (offset + at) * 8 + (8 - bit) - MAGIC_BITS;
          joined ??= Buffer.concat(held);
          if (begin !== undefined) blocks.push(cutBlock(joined, begin, first));
          else if (passed + first !== due) throw damaged();
          begin = high === BLOCK_HIGH ? first : undefined;
          ended = begin === undefined;
          if (ended) due = dueAfter(passed + first);
        }
      }
      const keepFrom = Math.max(0, Math.floor((begin ?? heldBytes * 8 - MAGIC_BITS) / 8));
      const rest = (joined ?? Buffer.concat(held)).slice(keepFrom);
      held = [rest];
      heldBytes = rest.byteLength;
      passed += keepFrom * 8;
      if (begin !== undefined) begin -= keepFrom * 8;
      if (heldBytes > BLOCK_BYTES) throw damaged();
      return blocks;
    },
  };
}

/** Where a further stream has its first magic number after the mark at this bit. */
function dueAfter(endMark: number): number {
  return Math.ceil((endMark + MAGIC_BITS + CHECKSUM_BITS) / 8) * 8 + HEADER_BITS;
}

const BLOCK_HIGH = Math.floor(BLOCK_MAGIC / 2 ** 24);
const BLOCK_LOW = BLOCK_MAGIC % 2 ** 24;
const END_HIGH = Math.floor(END_MAGIC / 2 ** 24);
const END_LOW = END_MAGIC % 2 ** 24;

function isMagic(high: number, low: number): boolean {
  return (high === BLOCK_HIGH && low === BLOCK_LOW) || (high === END_HIGH && low === END_LOW);
}

// A copy: a view would be sent with all that is held.
function cutBlock(joined: Uint8Array, begin: number, end: number): Bzip2Block {
  const from = Math.floor(begin / 8);
  return { bytes: joined.slice(from, Math.ceil(end / 8)), bit: begin - from * 8 };
}

function damaged(): Error {
  return Object.assign(new Error("the bzip2 data is damaged"), { code: "BZIP2_DATA" });
}
