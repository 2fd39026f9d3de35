/** What takes no part in the search for duplicates, or only in part, and why. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { SkipReason } from "../../gen/steward/dedup/v1/documents_pb.ts";
import type {
  ListSkippedDocumentsRequest,
  ListSkippedDocumentsResponseSchema,
  SkippedDocumentSchema,
} from "../../gen/steward/dedup/v1/documents_pb.ts";
import type { DocumentRow, SkippedItemRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import { skipOf, type DocumentFilter, type DocumentSkip } from "../documents/index.ts";
import type { DocumentStore } from "../documents/store.ts";

export interface SkippedDeps {
  readonly store: Pick<DocumentStore, "index" | "row">;
  /** Documents with fewer words are left out of an analysis. */
  readonly minWords: () => number;
  /** What the last sync could not read. */
  readonly unreadable: () => readonly SkippedItemRow[];
}

type Shown = MessageInitShape<typeof SkippedDocumentSchema>;

const reasons: Readonly<Record<DocumentSkip, SkipReason>> = {
  no_text: SkipReason.NO_TEXT,
  too_short: SkipReason.TOO_SHORT,
  cut: SkipReason.CUT,
};

/** Stored documents in the order of lists, then what is not stored. */
export function listSkipped(
  { store, minWords, unreadable }: SkippedDeps,
  { limit = 50, offset, reason, archive }: ListSkippedDocumentsRequest,
): MessageInitShape<typeof ListSkippedDocumentsResponseSchema> {
  const least = minWords();
  const wanted = (Object.keys(reasons) as DocumentSkip[]).find((one) => reasons[one] === reason);
  const filter: DocumentFilter = {
    skipped: { minWords: least, reason: wanted },
    ...(archive === "" ? {} : { archive }),
  };
  const stored =
    reason === SkipReason.UNREADABLE
      ? { docNos: [], total: 0 }
      : store.index.select(filter, { offset, limit });
  const items =
    reason === SkipReason.UNSPECIFIED || reason === SkipReason.UNREADABLE
      ? unreadable().filter((item) => archive === "" || item.archive === archive)
      : [];
  const documents = stored.docNos.flatMap((docNo) => {
    const row = store.row(docNo);
    return row === undefined ? [] : [showDocument(row, least)];
  });
  const from = Math.max(0, offset - stored.total);
  const others = items.slice(from, from + limit - documents.length).map(showItem);
  return {
    data: [...documents, ...others],
    meta: { total: stored.total + items.length, limit, offset },
  };
}

/** How many entries the list has. */
export function countSkipped({ store, minWords, unreadable }: SkippedDeps): number {
  const filter = { skipped: { minWords: minWords() } };
  return store.index.select(filter, { offset: 0, limit: 0 }).total + unreadable().length;
}

function showDocument(row: DocumentRow, minWords: number): Shown {
  const { id, archive, archiveRef, paperlessId, title, wordCount, truncated } = row;
  const facts = { hasText: row.contentHash.length > 0, wordCount, truncated };
  // It may have changed since the index was asked.
  const reason = skipOf(facts, minWords) ?? "cut";
  return {
    reason: reasons[reason],
    detail: detailOf(reason, wordCount, minWords),
    archive,
    archiveRef,
    documentId: id,
    title,
    wordCount,
    ...(paperlessId === undefined ? {} : { paperlessId }),
  };
}

function detailOf(reason: DocumentSkip, wordCount: number, minWords: number): string {
  switch (reason) {
    case "no_text":
      return "has no text; a scan needs text recognition";
    case "too_short":
      return `has ${wordCount} words, fewer than minWords (${minWords}), which PUT /api/v1/config/dedup changes`;
    case "cut":
      return "only the beginning of its text is compared, so that it is never deleted as a duplicate";
  }
}

function showItem({ archive, archiveRef, reason, detail }: SkippedItemRow): Shown {
  return { reason: SkipReason.UNREADABLE, detail: `${reason}: ${detail}`, archive, archiveRef };
}
