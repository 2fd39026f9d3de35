/** Compresses a block and its sums to the rows that store them. */
import { promisify } from "node:util";
import { constants, zstdCompress } from "node:zlib";
import type { FlowWindow } from "../flow-store.ts";
import type { BlockSums } from "./block-sums.ts";
import { HOUR_MS, type FlowBlock } from "./flow-block.ts";

export const MINUTE_MS = 60_000;
/** More than the three keys of a block and its row in `blocks` take. */
const HEAD_BYTES = 512;

const compress = promisify(zstdCompress);
const COMPRESSION = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Index entry of a block: enough to decide whether a question has to read its rows. */
export interface StoredBlock extends FlowWindow {
  readonly hour: number;
  readonly number: number;
  readonly rows: number;
  /** Number of its latest arrival. */
  readonly lastSeq: number;
  readonly minutes: readonly number[];
}

/** A block that takes connections, with its sums. */
export interface Unfinished {
  readonly hour: number;
  readonly number: number;
  readonly block: FlowBlock;
  readonly sums: BlockSums;
}

export interface PackedBlock {
  readonly stored: StoredBlock;
  readonly rowBytes: Uint8Array;
  readonly sumBytes: Uint8Array;
  /** At most so many are written. */
  readonly bytes: number;
}

export async function packedBlock({ hour, number, block, sums }: Unfinished): Promise<PackedBlock> {
  const minutes = [...sums.minutes.keys()].map((beginMs) =>
    Math.round((beginMs - hour * HOUR_MS) / MINUTE_MS),
  );
  const [startMs, endMs, lastSeq] = extremes(block);
  const stored = { hour, number, rows: block.size, startMs, endMs, lastSeq, minutes };
  const [rowBytes, sumBytes] = await Promise.all([
    compress(Buffer.from(block.encode()), COMPRESSION),
    compress(Buffer.from(sums.encode()), COMPRESSION),
  ]);
  return { stored, rowBytes, sumBytes, bytes: HEAD_BYTES + rowBytes.length + sumBytes.length };
}

function extremes(block: FlowBlock): [startMs: number, endMs: number, lastSeq: number] {
  let [startMs, endMs, lastSeq] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  for (let index = 0; index < block.size; index += 1) {
    startMs = Math.min(startMs, block.timeMs(index));
    endMs = Math.max(endMs, block.timeMs(index));
    lastSeq = Math.max(lastSeq, block.seq(index));
  }
  return [startMs, endMs, lastSeq];
}
