/** What applying a result writes to the document in its archive, and what reverting it restores. */
import { AiField } from "../../gen/steward/dedup/v1/ai_pb.ts";
import type { AiResultRow, AiSnapshotRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { DocumentChange, LiveDocument } from "../paperless/live-document.ts";
import type { AiSettings } from "./keys.ts";
import type { Labels } from "./labels.ts";
import { protectedNames } from "./process-job.ts";

export interface ApplyOptions {
  readonly fields: readonly AiField[];
  readonly allowClearing: boolean;
  readonly createMissing: boolean;
}

/** A result, the document as it is now, and the labels of its archive. */
export interface Suggested {
  readonly result: AiResultRow;
  readonly live: LiveDocument;
  readonly labels: Labels;
}

/** What must be written, as a function of the document as it is at that moment. */
export async function changeOf(
  settings: AiSettings,
  { result, live, labels }: Suggested,
  { fields, allowClearing, createMissing }: ApplyOptions,
  signal: AbortSignal,
): Promise<(live: LiveDocument) => DocumentChange> {
  const options = { create: createMissing, signal };
  const has = (field: AiField): boolean => fields.includes(field);
  const reference = async (
    list: "correspondents" | "document_types",
    name: string | undefined,
  ): Promise<number | null | undefined> =>
    name === undefined
      ? allowClearing
        ? null
        : undefined
      : await labels.idOf(list, name, options);
  const correspondent = has(AiField.CORRESPONDENT)
    ? await reference("correspondents", result.suggestedCorrespondent)
    : undefined;
  const documentType = has(AiField.DOCUMENT_TYPE)
    ? await reference("document_types", result.suggestedDocumentType)
    : undefined;
  const isProtected = protectedNames(settings);
  const wanted: number[] = [];
  const kept = new Set<number>();
  if (has(AiField.TAGS)) {
    for (const name of result.suggestedTags.filter((tag) => !isProtected(tag))) {
      const tag = await labels.idOf("tags", name, options);
      if (tag !== undefined) wanted.push(tag);
    }
    for (const tag of live.tags) {
      const name = await labels.nameOf("tags", tag, signal);
      // A tag that the user of the archive cannot see is not ours to remove.
      if (name === undefined || isProtected(name)) kept.add(tag);
    }
  }
  const writesTags =
    has(AiField.TAGS) &&
    (wanted.length > 0 ||
      (allowClearing && result.suggestedTags.length === 0 && settings.tagMode === "replace"));
  const title = has(AiField.TITLE) ? result.suggestedTitle : undefined;
  return (now) => ({
    ...(correspondent === undefined ? {} : { correspondent }),
    ...(documentType === undefined ? {} : { documentType }),
    ...(title === undefined ? {} : { title }),
    ...(writesTags
      ? {
          tags: [
            ...new Set([
              ...now.tags.filter((tag) => settings.tagMode === "merge" || kept.has(tag)),
              ...wanted,
            ]),
          ],
        }
      : {}),
  });
}

/** What a revert writes: tags that people added since stay, and those they removed stay away. */
export function restoring(
  { appliedFields, applyingFields }: AiResultRow,
  before: AiSnapshotRow,
  written: AiSnapshotRow | undefined,
  live: LiveDocument,
): DocumentChange {
  const has = (field: AiField): boolean =>
    appliedFields.includes(field) || applyingFields.includes(field);
  const added = new Set((written?.tags ?? []).filter((tag) => !before.tags.includes(tag)));
  const removed = before.tags.filter((tag) => written !== undefined && !written.tags.includes(tag));
  // What was not written, e.g. since nothing was suggested, is not restored either.
  const changed = (field: "correspondent" | "documentType" | "title"): boolean =>
    written?.[field] !== before[field] &&
    // Of an apply whose outcome is not known only what was written is restored.
    (appliedFields.includes(fieldOf[field]) || live[field] === written?.[field]);
  return {
    ...(has(AiField.CORRESPONDENT) && changed("correspondent")
      ? { correspondent: before.correspondent ?? null }
      : {}),
    ...(has(AiField.DOCUMENT_TYPE) && changed("documentType")
      ? { documentType: before.documentType ?? null }
      : {}),
    ...(has(AiField.TITLE) && changed("title") ? { title: before.title } : {}),
    ...(has(AiField.TAGS)
      ? { tags: [...new Set([...live.tags.filter((tag) => !added.has(tag)), ...removed])] }
      : {}),
  };
}

const fieldOf = {
  correspondent: AiField.CORRESPONDENT,
  documentType: AiField.DOCUMENT_TYPE,
  title: AiField.TITLE,
} as const;
