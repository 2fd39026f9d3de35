/** AI results as the API shows them. Pure. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  AiField,
  AiResultDetailSchema,
  AiResultSchema,
  AiResultStatus,
  AiSnapshotSchema,
} from "../../gen/steward/dedup/v1/ai_pb.ts";
import type { AiResultRow, AiSnapshotRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { DocumentRow } from "../../gen/steward/state/v1/dedup_pb.ts";

type Shown = MessageInitShape<typeof AiResultSchema> & { readonly $typeName?: never };

export function showResult(row: AiResultRow, document: DocumentRow | undefined): Shown {
  const { confidence } = row;
  return {
    id: row.id,
    documentId: document?.id ?? "",
    documentTitle: row.documentTitle,
    provider: row.provider,
    model: row.model,
    suggestedTags: row.suggestedTags,
    currentTitle: row.documentTitle,
    currentTags: row.currentTags,
    appliedStatus: row.status as AiResultStatus,
    createdAt: timestampFromMs(row.createdAtMs),
    ...defined("paperlessId", document?.paperlessId),
    ...defined("suggestedTitle", row.suggestedTitle),
    ...defined("suggestedCorrespondent", row.suggestedCorrespondent),
    ...defined("suggestedDocumentType", row.suggestedDocumentType),
    ...defined("currentCorrespondent", row.currentCorrespondent),
    ...defined("currentDocumentType", row.currentDocumentType),
    ...defined("errorMessage", row.errorMessage),
    ...defined("failureType", row.failureType),
    ...(row.appliedAtMs === undefined ? {} : { appliedAt: timestampFromMs(row.appliedAtMs) }),
    ...(confidence === undefined
      ? {}
      : {
          confidence: {
            correspondent: confidence.correspondent,
            documentType: confidence.documentType,
            tags: confidence.tags,
            ...defined("title", confidence.title),
          },
        }),
  };
}

export function showDetail(
  row: AiResultRow,
  document: DocumentRow | undefined,
): MessageInitShape<typeof AiResultDetailSchema> {
  return {
    ...showResult(row, document),
    promptTokens: row.promptTokens,
    completionTokens: row.completionTokens,
    processingTimeMs: Math.round(row.processingTimeMs),
    appliedFields: row.appliedFields as AiField[],
    ...defined("evidence", row.evidence),
    ...defined("estimatedCostUsd", row.costUsd),
    ...defined("rejectionReason", row.rejectionReason),
    ...(row.before === undefined || row.appliedFields.length === 0
      ? {}
      : { beforeApply: showSnapshot(row.before) }),
    ...(row.revertedAtMs === undefined ? {} : { revertedAt: timestampFromMs(row.revertedAtMs) }),
  };
}

function showSnapshot(row: AiSnapshotRow): MessageInitShape<typeof AiSnapshotSchema> {
  return {
    title: row.title,
    tags: row.tagNames,
    ...defined("correspondent", row.correspondentName),
    ...defined("documentType", row.documentTypeName),
  };
}

function defined<N extends string, T>(name: N, value: T | undefined): { [K in N]?: T } {
  return (value === undefined ? {} : { [name]: value }) as { [K in N]?: T };
}
