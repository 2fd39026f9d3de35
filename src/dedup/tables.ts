/**
 * The tables of the document service and the environments they live in. A document number is given
 * once and never again; everything inside refers to it, everything outside to the document's id.
 */
import {
  AiCostRowSchema,
  AiFeedbackRowSchema,
  AiResultRowSchema,
  DecisionRowSchema,
  DeletionRowSchema,
  DocumentRowSchema,
  GroupRowSchema,
  MetaRowSchema,
  TextRowSchema,
} from "../gen/steward/state/v1/dedup_pb.ts";
import type {
  AiCostRow,
  AiFeedbackRow,
  AiResultRow,
  DecisionRow,
  DeletionRow,
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

/**
 * One group of MAX_MEMBERS: its row and index entries take 85 bytes a member, its decision 72. What
 * changes several groups stays below 1 MiB: see `groups/change-size.ts`.
 */
const GROUP_CHANGE_BYTES = 16 * 2 ** 20;

/** The list of what a sync could not read is one row: a thousand long names, with reasons. */
const META_CHANGE_BYTES = 8 * 2 ** 20;

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
  limit: { rows: DOCUMENT_LIMIT, changeBytes: GROUP_CHANGE_BYTES },
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
  limit: { rows: DOCUMENT_LIMIT, changeBytes: GROUP_CHANGE_BYTES },
  indexes: [],
});

/** The recorded plan of the running deletion, by (job id, number). */
export const deletions: Table<readonly [string, number], DeletionRow> = defineTable({
  name: "deletions",
  key: tupleKey<readonly [string, number]>(),
  value: protobufCodec(DeletionRowSchema),
  limit: { rows: DOCUMENT_LIMIT },
  indexes: [],
});

/** Facts about the whole store, by name: see `meta.ts`. */
export const meta: Table<string, MetaRow> = defineTable({
  name: "meta",
  key: stringKey,
  value: protobufCodec(MetaRowSchema),
  limit: { rows: 1_000, changeBytes: META_CHANGE_BYTES },
  indexes: [],
});

/** Settings that Steward does not know, by name: see `app-config.ts`. */
export const appConfig: Table<string, MetaRow> = defineTable({
  name: "app_config",
  key: stringKey,
  value: protobufCodec(MetaRowSchema),
  limit: { rows: 10_000 },
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

/** What a model suggested, by document number: at most one result a document. */
export const aiResults: Table<number, AiResultRow> = defineTable({
  name: "ai_results",
  key: numberKey,
  value: protobufCodec(AiResultRowSchema),
  limit: { rows: DOCUMENT_LIMIT },
  indexes: [{ name: "id", unique: true, of: (row) => [[row.id]] }],
});

/** What reviewers thought of results, by serial number. */
export const aiFeedback: Table<number, AiFeedbackRow> = defineTable({
  name: "ai_feedback",
  key: numberKey,
  value: protobufCodec(AiFeedbackRowSchema),
  limit: { rows: DOCUMENT_LIMIT },
  indexes: [],
});

/** What AI requests cost, by day (UTC), provider and model. */
export const aiCosts: Table<readonly [string, string, string], AiCostRow> = defineTable({
  name: "ai_costs",
  key: tupleKey<readonly [string, string, string]>(),
  value: protobufCodec(AiCostRowSchema),
  limit: { rows: 1_000_000 },
  indexes: [],
});

/** Lower-case hexadecimal text of bytes. */
export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}
