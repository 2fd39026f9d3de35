/** Reading documents over the API. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
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
import type { DocumentFilter } from "../documents/index.ts";
import type { DocumentStore } from "../documents/store.ts";
import { hexOf } from "../tables.ts";

export interface DocumentsApiDeps {
  readonly store: DocumentStore;
  /** The groups that a document is in. */
  readonly memberships: (
    docNo: number,
  ) => readonly MessageInitShape<typeof GroupMembershipSchema>[];
}

/** ListDocuments, GetDocument and GetDocumentContent. */
export function documentHandlers({ store, memberships }: DocumentsApiDeps): BoundService {
  return bindService(DocumentService, {
    listDocuments(request) {
      const page = { offset: request.offset, limit: request.limit ?? 50 };
      const { docNos, total } = store.index.select(filterOf(request), page);
      const rows = docNos.flatMap((docNo) => store.row(docNo) ?? []);
      return { data: rows.map(showSummary), meta: { total, ...page } };
    },
    async getDocument({ id }) {
      const row = rowOf(store, id);
      const content = await contentOf(store, row);
      return {
        data: {
          ...showSummary(row),
          fingerprint: hexOf(row.fingerprint),
          syncedAt: timestampFromMs(row.syncedAtMs),
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

function filterOf(request: ListDocumentsRequest): DocumentFilter {
  const { correspondent, documentType, tag, search, processingStatus } = request;
  return {
    ...(correspondent === "" ? {} : { correspondent }),
    ...(documentType === "" ? {} : { documentType }),
    ...(tag === "" ? {} : { tag }),
    ...(search === "" ? {} : { search }),
    ...(processingStatus === ProcessingStatus.UNSPECIFIED
      ? {}
      : { pending: processingStatus === ProcessingStatus.PENDING }),
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
