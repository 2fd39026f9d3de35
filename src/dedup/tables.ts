/**
 * The tables of the document service and the environments they live in. A document number is given
 * once and never again; everything inside refers to it, everything outside to the document's id.
 */
import {
  DecisionRowSchema,
  DocumentRowSchema,
  GroupRowSchema,
  MetaRowSchema,
  TextRowSchema,
} from "../gen/steward/state/v1/dedup_pb.ts";
import type {
  DecisionRow,
  DocumentRow,
  GroupRow,
  MetaRow,
  TextRow,
} from "../gen/steward/state/v1/dedup_pb.ts";
import { numberKey, stringKey, tupleKey } from "../kernel/state/keys.ts";
import { defineTable } from "../kernel/state/table.ts";
import type { Table } from "../kernel/state/types.ts";
import { protobufCodec } from "../kernel/state/values.ts";

/** The most documents one Steward holds. */
const DOCUMENT_LIMIT = 5_000_000;

/** Documents by number; found by id, by archive reference, by the hash of their text. */
export const documents: Table<number, DocumentRow> = defineTable({
  name: "documents",
  key: numberKey,
  value: protobufCodec(DocumentRowSchema),
  limit: { rows: DOCUMENT_LIMIT },
  indexes: [
    { name: "id", unique: true, of: (row) => [[row.id]] },
    { name: "ref", unique: true, of: (row) => [[row.archive, row.archiveRef]] },
    {
      name: "hash",
      unique: false,
      of: (row) => (row.contentHash.length ? [[hexOf(row.contentHash)]] : []),
    },
  ],
});

/** Groups of one analysis by (generation, group id); found by (generation, member). */
export const groups: Table<readonly [number, string], GroupRow> = defineTable({
  name: "groups",
  key: tupleKey<readonly [number, string]>(),
  value: protobufCodec(GroupRowSchema),
  limit: { rows: DOCUMENT_LIMIT },
  indexes: [
    {
      name: "member",
      unique: false,
      of: (row, [generation]) => row.members.map((docNo) => [generation, docNo]),
    },
  ],
});

/** What people decided, by group id. */
export const decisions: Table<string, DecisionRow> = defineTable({
  name: "decisions",
  key: stringKey,
  value: protobufCodec(DecisionRowSchema),
  limit: { rows: DOCUMENT_LIMIT },
  indexes: [],
});

/** Facts about the whole store, by name: see `meta.ts`. */
export const meta: Table<string, MetaRow> = defineTable({
  name: "meta",
  key: stringKey,
  value: protobufCodec(MetaRowSchema),
  limit: { rows: 1_000 },
  indexes: [],
});

/**
 * Texts by document number, in an environment of their own so that bulk writes never delay
 * decisions.
 */
export const texts: Table<number, TextRow> = defineTable({
  name: "texts",
  key: numberKey,
  value: protobufCodec(TextRowSchema),
  limit: { rows: DOCUMENT_LIMIT },
  indexes: [],
});

/** Lower-case hexadecimal text of bytes. */
export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}
