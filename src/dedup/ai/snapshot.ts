/**
 * What a document of an archive had before suggestions were written to it, and what it has since:
 * the snapshots that a result keeps, so that a revert restores what was there.
 */
import { clone, create } from "@bufbuild/protobuf";
import { AiField } from "../../gen/steward/dedup/v1/ai_pb.ts";
import {
  AiSnapshotRowSchema,
  type AiResultRow,
  type AiSnapshotRow,
} from "../../gen/steward/state/v1/dedup_pb.ts";
import type { DocumentChange, LiveDocument } from "../paperless/live-document.ts";
import type { Labels } from "./labels.ts";

/** What a document has, with the names of its labels; a label that has none shows as its number. */
export async function snapshotOf(
  live: LiveDocument,
  labels: Labels,
  signal: AbortSignal,
): Promise<AiSnapshotRow> {
  const { correspondent, documentType, tags, title } = live;
  const tagNames: string[] = [];
  for (const tag of tags) tagNames.push((await labels.nameOf("tags", tag, signal)) ?? unnamed(tag));
  const from =
    correspondent === undefined
      ? undefined
      : await labels.nameOf("correspondents", correspondent, signal);
  const type =
    documentType === undefined
      ? undefined
      : await labels.nameOf("document_types", documentType, signal);
  return create(AiSnapshotRowSchema, {
    title,
    tags: [...tags],
    tagNames,
    ...(correspondent === undefined ? {} : { correspondent }),
    ...(documentType === undefined ? {} : { documentType }),
    ...(from === undefined ? {} : { correspondentName: from }),
    ...(type === undefined ? {} : { documentTypeName: type }),
  });
}

/** What stands for a tag whose name the user of the archive cannot see. */
export function unnamed(tag: number): string {
  return `#${tag}`;
}

type Kept = Pick<AiResultRow, "before" | "written" | "appliedFields">;

/**
 * The snapshot to keep: of fields that were applied, or that a crashed attempt wrote already, the
 * first one; of the others the present values. Tags that are written again keep the first ones with
 * what people changed since they were written: a revert would take that back otherwise.
 */
export function keepFirst(result: Kept, now: AiSnapshotRow, change: DocumentChange): AiSnapshotRow {
  const { before, written } = result;
  if (before === undefined) return now;
  const keeps = (field: AiField, isWritten: boolean): boolean =>
    result.appliedFields.includes(field) || isWritten;
  const kept = clone(AiSnapshotRowSchema, now);
  if (keeps(AiField.TITLE, written?.title === now.title)) kept.title = before.title;
  if (keeps(AiField.CORRESPONDENT, written?.correspondent === now.correspondent))
    setReference(kept, "correspondent", before);
  if (keeps(AiField.DOCUMENT_TYPE, written?.documentType === now.documentType))
    setReference(kept, "documentType", before);
  if (keeps(AiField.TAGS, written !== undefined && areSame(written.tags, now.tags))) {
    const names = new Map(
      [before, now].flatMap(({ tags, tagNames }) =>
        tags.map((tag, at) => [tag, tagNames[at] ?? unnamed(tag)] as const),
      ),
    );
    const isKept = (tag: number): boolean => now.tags.includes(tag) || !written?.tags.includes(tag);
    const isAdded = (tag: number): boolean => written?.tags.includes(tag) === false;
    const tags =
      change.tags === undefined
        ? before.tags
        : [...new Set([...before.tags.filter(isKept), ...now.tags.filter(isAdded)])];
    kept.tags = [...tags];
    kept.tagNames = tags.map((tag) => names.get(tag) ?? unnamed(tag));
  }
  return kept;
}

/**
 * What counts as written after a change. Fields that were applied before and that the change leaves
 * alone keep what was written then: the document may have got other values from people since.
 */
export function keepWritten(
  { written, appliedFields }: Kept,
  shown: AiSnapshotRow,
  change: DocumentChange,
): AiSnapshotRow {
  if (written === undefined) return shown;
  const keeps = (field: AiField, value: unknown): boolean =>
    appliedFields.includes(field) && value === undefined;
  const kept = clone(AiSnapshotRowSchema, shown);
  if (keeps(AiField.TITLE, change.title)) kept.title = written.title;
  if (keeps(AiField.CORRESPONDENT, change.correspondent))
    setReference(kept, "correspondent", written);
  if (keeps(AiField.DOCUMENT_TYPE, change.documentType))
    setReference(kept, "documentType", written);
  if (keeps(AiField.TAGS, change.tags)) {
    kept.tags = [...written.tags];
    kept.tagNames = [...written.tagNames];
  }
  return kept;
}

function setReference(
  target: AiSnapshotRow,
  field: "correspondent" | "documentType",
  from: AiSnapshotRow,
): void {
  delete target[field];
  delete target[`${field}Name`];
  if (from[field] !== undefined) target[field] = from[field];
  const name = from[`${field}Name`];
  if (name !== undefined) target[`${field}Name`] = name;
}

/** What the document will have after the change; of labels only the ids are kept up to date. */
export function plannedOf(now: AiSnapshotRow, change: DocumentChange): AiSnapshotRow {
  const planned = clone(AiSnapshotRowSchema, now);
  if (change.title !== undefined) planned.title = change.title;
  if (change.tags !== undefined) planned.tags = [...change.tags];
  for (const field of ["correspondent", "documentType"] as const) {
    const value = change[field];
    if (value === null) delete planned[field];
    else if (value !== undefined) planned[field] = value;
  }
  return planned;
}

function areSame(left: readonly number[], right: readonly number[]): boolean {
  return left.length === right.length && left.every((id) => right.includes(id));
}
