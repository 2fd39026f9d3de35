/** LMDB tables of the flow store of one network. */
import {
  FlowBlockRowSchema,
  FlowOwnerRowSchema,
  type FlowBlockRow,
  type FlowOwnerRow,
} from "../../../gen/steward/state/v1/flows_pb.ts";
import { numberKey, tupleKey } from "../../../kernel/state/keys.ts";
import { defineTable } from "../../../kernel/state/table.ts";
import type { AnyTable, EnvSpec, Table } from "../../../kernel/state/types.ts";
import { bytesCodec, protobufCodec } from "../../../kernel/state/values.ts";

const MIB = 2 ** 20;
/** Schema version. */
const SCHEMA = 1;
/** A network with few connections has one block an hour, one with many fills them. */
const MAX_BLOCKS = 1_000_000;
/** Far more than a row takes with its share of the sums; freed pages are used again. */
const BYTES_PER_ROW = 256;

/** A block and its sums, whatever their texts: `flow-block.ts` bounds them. */
const MAX_BLOCK_BYTES = 16 * MIB;

/** The hour since 1970, and the number in that hour. */
export type BlockKey = readonly [hour: number, number: number];
const blockKey = tupleKey<BlockKey>();

export const blocks: Table<BlockKey, FlowBlockRow> = defineTable({
  name: "blocks",
  key: blockKey,
  value: protobufCodec(FlowBlockRowSchema),
  limit: { rows: MAX_BLOCKS },
});

/** Connections of a block (`flow-block.ts`). */
export const rows: Table<BlockKey, Uint8Array> = defineTable({
  name: "rows",
  key: blockKey,
  value: bytesCodec,
  limit: { rows: MAX_BLOCKS, changeBytes: MAX_BLOCK_BYTES },
});

/** Their sums (`block-sums.ts`). */
export const sums: Table<BlockKey, Uint8Array> = defineTable({
  name: "sums",
  key: blockKey,
  value: bytesCodec,
  limit: { rows: MAX_BLOCKS, changeBytes: MAX_BLOCK_BYTES },
});

/** One row, with the key 0. */
export const owner: Table<number, FlowOwnerRow> = defineTable({
  name: "owner",
  key: numberKey,
  value: protobufCodec(FlowOwnerRowSchema),
  limit: { rows: 1 },
});

export function flowStoreSpec(name: string, maxRows: number): Omit<EnvSpec, "directory"> {
  return {
    name,
    schema: SCHEMA,
    derived: false,
    maxBytes: 256 * MIB + maxRows * BYTES_PER_ROW,
    tables: [blocks, rows, sums, owner] as readonly unknown[] as readonly AnyTable[],
  };
}
