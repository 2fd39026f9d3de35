/**
 * The words of the API for the states of a result and the fields that a suggestion is for, and which
 * states may be applied.
 */
import { AiField, AiResultStatus } from "../../gen/steward/dedup/v1/ai_pb.ts";

const statusNames: Readonly<Record<number, string>> = {
  [AiResultStatus.PENDING]: "pending",
  [AiResultStatus.APPLIED]: "applied",
  [AiResultStatus.REJECTED]: "rejected",
  [AiResultStatus.PARTIAL]: "partial",
  [AiResultStatus.FAILED]: "failed",
  [AiResultStatus.REVERTED]: "reverted",
};

/** As the API names it. */
export function statusName(status: number): string {
  return statusNames[status] ?? "unknown";
}

/** Whether something of a result in this state may be written to its archive. */
export function isAppliable(status: number): boolean {
  return (
    status === AiResultStatus.PENDING ||
    status === AiResultStatus.PARTIAL ||
    status === AiResultStatus.REVERTED
  );
}

const fieldNames: Readonly<Record<number, string>> = {
  [AiField.CORRESPONDENT]: "correspondent",
  [AiField.DOCUMENT_TYPE]: "documentType",
  [AiField.TAGS]: "tags",
  [AiField.TITLE]: "title",
};

/** As the API names it. */
export function fieldName(field: AiField): string {
  return fieldNames[field] ?? "";
}
