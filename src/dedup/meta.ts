/** Typed access to the rows of the meta table: values about the whole document store. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  MetaRowSchema,
  SkippedItemsRowSchema,
  type SkippedItemRow,
} from "../gen/steward/state/v1/dedup_pb.ts";
import type { Snapshot, Tx } from "../kernel/state/types.ts";
import { meta } from "./tables.ts";

/** Names of the numeric entries. */
export type MetaNumber =
  /** The number the next new document gets. Absent: 1. */
  | "nextDocNo"
  /** The number the next feedback about an AI result gets. Absent: 1. */
  | "nextFeedback"
  /** The generation of groups that readers see. Absent: 0, no analysis yet. */
  | "generation"
  /** The generation whose rows lie below those of the current one. Absent: the current one. */
  | "baseGeneration"
  /** Start of the last finished sync, milliseconds since 1970. */
  | "lastSyncAtMs"
  /** Documents inserted or updated by the last finished sync. */
  | "lastSyncCount"
  /** The number of the sync that started last. */
  | "syncSerial"
  /** End of the last finished analysis, milliseconds since 1970. */
  | "lastAnalysisAtMs"
  /** Groups of any status after the last analysis. */
  | "totalGroups"
  /** Groups that a decision has taken out of the status pending, ever. */
  | "groupsActioned"
  /** Documents deleted in archives, ever. */
  | "documentsDeleted";

/** Names of the text entries. */
export type MetaText =
  /** The parameters that the stored groups were made with. */
  | "analysisFingerprint"
  /** The weights that the scores of all stored groups were computed with. */
  | "scoreWeights";

/** Names of the entries that are lists of document numbers. */
export type MetaDocNos =
  /**
   * Documents whose text may be newer than their row, because a sync was interrupted between the
   * two.
   */
  "rewriting";

/** A number, or undefined when it was never set. */
export function metaNumber(snapshot: Snapshot, name: MetaNumber): number | undefined {
  return snapshot.get(meta, name)?.number;
}

/** Sets a number; undefined forgets it. */
export function setMetaNumber(tx: Tx, name: MetaNumber, value: number | undefined): void {
  if (value === undefined) tx.delete(meta, name);
  else tx.put(meta, name, create(MetaRowSchema, { number: value }));
}

/** A text, or undefined when it was never set. */
export function metaText(snapshot: Snapshot, name: MetaText): string | undefined {
  return snapshot.get(meta, name)?.text;
}

/** Sets a text; undefined forgets it. */
export function setMetaText(tx: Tx, name: MetaText, value: string | undefined): void {
  if (value === undefined) tx.delete(meta, name);
  else tx.put(meta, name, create(MetaRowSchema, { text: value }));
}

/** A list of document numbers, empty when it was never set. */
export function metaDocNos(snapshot: Snapshot, name: MetaDocNos): number[] {
  const data = snapshot.get(meta, name)?.data;
  if (data === undefined) return [];
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  return Array.from({ length: data.byteLength / 4 }, (_, index) => view.getUint32(index * 4, true));
}

/** Sets a list of document numbers; an empty one is forgotten. */
export function setMetaDocNos(tx: Tx, name: MetaDocNos, docNos: readonly number[]): void {
  if (docNos.length === 0) {
    tx.delete(meta, name);
    return;
  }
  const view = new DataView(new ArrayBuffer(docNos.length * 4));
  docNos.forEach((docNo, index) => view.setUint32(index * 4, docNo, true));
  tx.put(meta, name, create(MetaRowSchema, { data: new Uint8Array(view.buffer) }));
}

/** What syncs could not read; empty before the first sync. */
export function skippedItems(snapshot: Snapshot): readonly SkippedItemRow[] {
  const data = snapshot.get(meta, "skippedItems")?.data;
  return data === undefined ? [] : fromBinary(SkippedItemsRowSchema, data).items;
}

export function setSkippedItems(tx: Tx, items: readonly SkippedItemRow[]): void {
  if (items.length === 0) return void tx.delete(meta, "skippedItems");
  const data = toBinary(
    SkippedItemsRowSchema,
    create(SkippedItemsRowSchema, { items: [...items] }),
  );
  tx.put(meta, "skippedItems", create(MetaRowSchema, { data }));
}
