/** Input and result of a deletion. */
import { DeletionOutcome } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { DeletionRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { ValueCodec } from "../../kernel/state/types.ts";
import type { PlannedDeletion } from "./rows.ts";

export interface DeletionInput {
  readonly groupIds: readonly string[];
  /** Copy the metadata of each document to the one that stays. */
  readonly merge: boolean;
}

export const deletionInput: ValueCodec<DeletionInput> = {
  write: (input) => new TextEncoder().encode(JSON.stringify(input)),
  read: (bytes) => JSON.parse(new TextDecoder().decode(bytes)) as DeletionInput,
};

type OutcomeName = "deleted" | "already_missing" | "skipped" | "failed";

interface DocumentResult {
  readonly documentId: string;
  readonly paperlessId: number;
  readonly groupId: string;
  readonly outcome: OutcomeName;
  /** Continues "it"; only when it was skipped or failed. */
  readonly reason?: string;
  /** The document that stays for it. */
  readonly keptDocumentId?: string;
  readonly merged?: boolean;
}

/** The result of the job, as the API returns it. */
export interface DeletionResult {
  readonly deletedDocuments: number;
  readonly alreadyMissingDocuments: number;
  readonly skippedDocuments: number;
  readonly failedDocuments: number;
  readonly mergedDocuments: number;
  /** Groups whose documents except the primary are all gone. */
  readonly deletedGroups: number;
  /** Groups of which a document is left. */
  readonly pendingGroups: readonly string[];
  /** The first documents in the order of the plan, as many as `RESULT_BYTES` has room for. */
  readonly documents: readonly DocumentResult[];
  /** The failed ones of them. */
  readonly errors: readonly {
    readonly groupId: string;
    readonly documentId: string;
    readonly paperlessId: number;
    readonly error: string;
  }[];
}

/** Of the documents and errors of a result, as JSON: it is stored in the row of the job. */
const RESULT_BYTES = 512 * 1024;

const names: ReadonlyMap<DeletionOutcome, OutcomeName> = new Map([
  [DeletionOutcome.DELETED, "deleted"],
  [DeletionOutcome.ALREADY_MISSING, "already_missing"],
  [DeletionOutcome.FAILED, "failed"],
]);

function nameOf(outcome: DeletionOutcome): OutcomeName {
  return names.get(outcome) ?? "skipped";
}

/** Whether the document is no longer in the archive. */
export function isGone(outcome: DeletionOutcome): boolean {
  return outcome === DeletionOutcome.DELETED || outcome === DeletionOutcome.ALREADY_MISSING;
}

export function resultOf(
  plan: readonly PlannedDeletion[],
  groups: { readonly deleted: number; readonly pending: readonly string[] },
): DeletionResult {
  const count = (outcome: OutcomeName): number =>
    plan.filter(({ row }) => nameOf(row.outcome) === outcome).length;
  const { documents, errors } = shownDocuments(plan);
  return {
    deletedDocuments: count("deleted"),
    alreadyMissingDocuments: count("already_missing"),
    skippedDocuments: count("skipped"),
    failedDocuments: count("failed"),
    mergedDocuments: plan.filter(({ row }) => row.merged).length,
    deletedGroups: groups.deleted,
    pendingGroups: groups.pending,
    documents,
    errors,
  };
}

function shownDocuments(
  plan: readonly PlannedDeletion[],
): Pick<DeletionResult, "documents" | "errors"> {
  const documents: DocumentResult[] = [];
  const errors: DeletionResult["errors"][number][] = [];
  let bytes = 0;
  for (const { row } of plan) {
    const shown = showDocument(row);
    const error = shown.outcome === "failed" ? [showError(shown)] : [];
    // A comma or bracket beside each.
    bytes += Buffer.byteLength(JSON.stringify([shown, ...error]));
    if (bytes > RESULT_BYTES) break;
    documents.push(shown);
    errors.push(...error);
  }
  return { documents, errors };
}

function showDocument(row: DeletionRow): DocumentResult {
  return {
    documentId: row.documentId,
    paperlessId: row.paperlessId,
    groupId: row.groupId,
    outcome: nameOf(row.outcome),
    ...(row.reason === "" ? {} : { reason: row.reason }),
    ...(row.keepDocumentId === "" ? {} : { keptDocumentId: row.keepDocumentId }),
    ...(row.merged ? { merged: true } : {}),
  };
}

function showError({
  groupId,
  documentId,
  paperlessId,
  reason = "",
}: DocumentResult): DeletionResult["errors"][number] {
  return { groupId, documentId, paperlessId, error: reason };
}
