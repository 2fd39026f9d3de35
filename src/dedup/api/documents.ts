/** Reading documents over the API. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { normalise } from "../../../workers/text/normalise.ts";
import { DocumentService, ProcessingStatus } from "../../gen/steward/dedup/v1/documents_pb.ts";
import type {
  DocumentContentSchema,
  GroupMembershipSchema,
  ListDocumentsRequest,
} from "../../gen/steward/dedup/v1/documents_pb.ts";
import type { DocumentRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { bindService } from "../../kernel/service.ts";
import type { BoundService } from "../../kernel/service.ts";
import { firstSeenAtMs, type DocumentFilter } from "../documents/index.ts";
import type { DocumentStore } from "../documents/store.ts";
import { hexOf } from "../tables.ts";
import { listSkipped, type SkippedDeps } from "./skipped-documents.ts";

export interface DocumentsApiDeps extends SkippedDeps {
  readonly store: DocumentStore;
  /** The groups that a document is in. */
  readonly memberships: (
    docNo: number,
  ) => readonly MessageInitShape<typeof GroupMembershipSchema>[];
  /** Whether there is an AI result for a document. */
  readonly hasAiResult: (docNo: number) => boolean;
}

/** All methods of DocumentService. */
export function documentHandlers({
  store,
  memberships,
  hasAiResult,
  minWords,
  unreadable,
}: DocumentsApiDeps): BoundService {
  return bindService(DocumentService, {
    listDocuments(request) {
      const page = { offset: request.offset, limit: request.limit ?? 50 };
      const { docNos, total } = store.index.select(filterOf(request, hasAiResult), page);
      const rows = docNos.flatMap((docNo) => store.row(docNo) ?? []);
      return { data: rows.map(showSummary), meta: { total, ...page } };
    },
    listSkippedDocuments: (request) => listSkipped({ store, minWords, unreadable }, request),
    async getDocument({ id }) {
      const row = rowOf(store, id);
      const content = await contentOf(store, row);
      return {
        data: {
          ...showSummary(row),
          fingerprint: hexOf(row.fingerprint),
          syncedAt: timestampFromMs(row.syncedAtMs),
          ...(row.pageCount === undefined ? {} : { pageCount: row.pageCount }),
          groupMemberships: [...memberships(row.docNo)],
          ...(row.modifiedDate === undefined ? {} : { modifiedDate: row.modifiedDate }),
          ...(content === undefined ? {} : { content }),
        },
      };
    },
    async getDocumentContent({ id }) {
      const row = rowOf(store, id);
      const fullText = await store.fullText(row);
      if (fullText === undefined)
        throw new StewardError("not_found", `document ${id} has no text`, { field: "id" });
      return { data: { fullText, wordCount: row.wordCount } };
    },
  });
}

function filterOf(
  request: ListDocumentsRequest,
  hasAiResult: (docNo: number) => boolean,
): DocumentFilter {
  const { correspondent, documentType, tag, search, processingStatus, since } = request;
  return {
    ...(correspondent === "" ? {} : { correspondent }),
    ...(documentType === "" ? {} : { documentType }),
    ...(tag === "" ? {} : { tag }),
    ...(search === "" ? {} : { search }),
    ...(since === undefined ? {} : { sinceMs: timestampMs(since) }),
    ...(processingStatus === ProcessingStatus.UNSPECIFIED
      ? {}
      : { pending: processingStatus === ProcessingStatus.PENDING }),
    ...(request.noAiResult ? { keep: (docNo: number) => !hasAiResult(docNo) } : {}),
  };
}

function rowOf(store: DocumentStore, id: string): DocumentRow {
  const row = id.length <= 64 ? store.byId(id) : undefined;
  if (row === undefined)
    throw new StewardError("not_found", `there is no document ${JSON.stringify(id.slice(0, 40))}`, {
      field: "id",
    });
  return row;
}

function showSummary(row: DocumentRow) {
  const {
    id,
    paperlessId,
    title,
    correspondent,
    documentType,
    tags,
    createdDate,
    addedDate,
    archive,
    archiveRef,
    truncated,
  } = row;
  return {
    id,
    truncated,
    title,
    tags,
    archive,
    archiveRef,
    firstSeenAt: timestampFromMs(firstSeenAtMs(row)),
    processingStatus: row.pending ? ProcessingStatus.PENDING : ProcessingStatus.COMPLETED,
    ...(paperlessId === undefined ? {} : { paperlessId }),
    ...(correspondent === undefined ? {} : { correspondent }),
    ...(documentType === undefined ? {} : { documentType }),
    ...(createdDate === undefined ? {} : { createdDate }),
    ...(addedDate === undefined ? {} : { addedDate }),
  };
}

async function contentOf(
  store: DocumentStore,
  row: DocumentRow,
): Promise<MessageInitShape<typeof DocumentContentSchema> | undefined> {
  const fullText = await store.fullText(row);
  if (fullText === undefined) return undefined;
  return {
    fullText,
    normalizedText: normalise(fullText),
    wordCount: row.wordCount,
    contentHash: hexOf(row.contentHash),
  };
}
