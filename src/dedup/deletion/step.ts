/**
 * One document of a deletion: compared once more with the store and with the archive, its metadata
 * merged when wanted, then moved to the trash of the archive. Paperless-ngx has no conditional
 * requests: between the last look and the deletion lies one request.
 */
import { GroupStatus } from "../../gen/steward/dedup/v1/groups_pb.ts";
import { DeletionOutcome } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { DeletionRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import type { Env, Snapshot } from "../../kernel/state/types.ts";
import type { Archive } from "../archives/archive.ts";
import type { DocumentStore } from "../documents/store.ts";
import { rejectedSets, statusOf } from "../groups/decision.ts";
import { primaryOf } from "../groups/row.ts";
import { groupsOfMember, readGroup } from "../groups/store.ts";
import { applyMerge } from "../merge/apply.ts";
import { mergeFields } from "../merge/merge.ts";
import type { LiveDocument } from "../paperless/live-document.ts";
import type { PaperlessWriter } from "../paperless/writer.ts";
import { fingerprintOf } from "../sync/fingerprint.ts";
import { documents } from "../tables.ts";

export interface StepDeps {
  readonly env: Env;
  readonly documents: Pick<DocumentStore, "fullText">;
  readonly archives: () => readonly Pick<Archive, "name" | "writer">[];
}

/** What became of a document. */
export interface StepResult {
  readonly outcome: DeletionOutcome;
  /** Continues "it". */
  readonly reason?: string;
  readonly merged?: boolean;
  /** Of the archive, when it failed. */
  readonly error?: StewardError;
}

const CHANGED = "has changed in the archive since the last sync; sync and analyse, then try again";

const KEPT_CHANGED =
  "would lose its counterpart: the text of the document that stays for it has changed";

const SEEN_TWICE =
  "has the id and the date added of the document that stays for it: it seems to be that document, read through two archives; list each Paperless-ngx once in dedup.archives";

/** Rejects with the signal's reason only; a failing archive is an outcome. */
export async function deleteDocument(
  deps: StepDeps,
  row: DeletionRow,
  merge: boolean,
  signal: AbortSignal,
): Promise<StepResult> {
  try {
    return await attempt(deps, row, merge, signal);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof StewardError && error.code !== "upstream") throw error;
    const failure = toStewardError(error);
    const { message, remedy } = failure;
    const reason = `could not be deleted: ${message}${remedy === undefined ? "" : `; ${remedy}`}`;
    return { outcome: DeletionOutcome.FAILED, reason, error: failure };
  }
}

async function attempt(
  deps: StepDeps,
  row: DeletionRow,
  merge: boolean,
  signal: AbortSignal,
): Promise<StepResult> {
  const writer = writerOf(deps, row.archive);
  if (writer === undefined) return skipped(`is in archive ${row.archive}, which is not configured`);
  const live = await writer.document(row.paperlessId, signal);
  if (live === undefined) return { outcome: DeletionOutcome.ALREADY_MISSING };
  if (!areEqual(fingerprintOf(live.version), row.fingerprint)) return skipped(CHANGED);
  const kept = await readKept(deps, row.keepDocNo, signal);
  if (typeof kept === "string") return skipped(kept);
  if (isSeenTwice(row, live, kept)) return skipped(SEEN_TWICE);
  if (merge && kept.archive !== row.archive)
    return skipped("cannot be merged, since the document that stays for it is in another archive");
  // Nothing waits between this look at the store and the writes but the merge itself.
  const reason = deps.env.read((snapshot) => whyNot(snapshot, row));
  if (reason !== undefined) return skipped(reason);
  if (merge && !(await mergeInto(writer, kept.paperlessId, live, signal)))
    return skipped("could not be merged: the document that stays for it is gone from the archive");
  const deleted = await writer.trash(row.paperlessId, signal);
  return {
    outcome: deleted === "trashed" ? DeletionOutcome.DELETED : DeletionOutcome.ALREADY_MISSING,
    ...(merge ? { merged: true } : {}),
  };
}

function skipped(reason: string): StepResult {
  return { outcome: DeletionOutcome.SKIPPED, reason };
}

function writerOf({ archives }: StepDeps, name: string): PaperlessWriter | undefined {
  return archives().find((archive) => archive.name === name)?.writer;
}

function mergeInto(
  writer: PaperlessWriter,
  primary: number,
  member: LiveDocument,
  signal: AbortSignal,
): Promise<boolean> {
  return applyMerge(writer, primary, [member], { fields: mergeFields, signal });
}

/** The document that stays for another one. */
interface KeptDocument {
  readonly archive: string;
  readonly paperlessId: number;
  /** When it was added to the archive, as the archive writes it. */
  readonly added: string | undefined;
}

/**
 * Whether both are one document of one server that is listed under two addresses. Two servers give
 * one id to two documents, but do not add them at the same instant.
 */
function isSeenTwice(row: DeletionRow, live: LiveDocument, kept: KeptDocument): boolean {
  return (
    kept.archive !== row.archive &&
    kept.paperlessId === row.paperlessId &&
    kept.added === live.added
  );
}

/** The document that stays, if the archive still has it with the text that the store has. */
async function readKept(
  deps: StepDeps,
  docNo: number,
  signal: AbortSignal,
): Promise<KeptDocument | string> {
  const row = deps.env.read((snapshot) => snapshot.get(documents, docNo));
  const writer = row && writerOf(deps, row.archive);
  if (row?.paperlessId === undefined || writer === undefined)
    return "has no counterpart any more: the document that stays for it is gone";
  const { archive, paperlessId } = row;
  const live = await writer.document(paperlessId, signal);
  if (live === undefined)
    return "has no counterpart any more: the document that stays for it is gone from the archive";
  if (
    !areEqual(fingerprintOf(live.version), row.fingerprint) &&
    live.content.toWellFormed() !== (await deps.documents.fullText(row))
  )
    return KEPT_CHANGED;
  return { archive, paperlessId, added: live.added };
}

/** Why the store no longer lets a document go; undefined when it does. */
function whyNot(
  snapshot: Snapshot,
  { groupId, docNo, keepDocNo, keepContentHash, fingerprint }: DeletionRow,
): string | undefined {
  const stored = snapshot.get(documents, docNo);
  if (stored === undefined || !areEqual(stored.fingerprint, fingerprint) || stored.pending)
    return CHANGED;
  const kept = snapshot.get(documents, keepDocNo);
  if (kept === undefined || !areEqual(kept.contentHash, keepContentHash)) return KEPT_CHANGED;
  const group = readGroup(snapshot, groupId);
  if (group === undefined || statusOf(group.row, group.decision) !== GroupStatus.PENDING)
    return "is in a group that is no longer pending";
  if (primaryOf(group.row, group.decision) !== keepDocNo)
    return "is in a group whose primary was changed";
  if (!group.row.members.includes(docNo)) return "is no longer a member of its group";
  for (const other of groupsOfMember(snapshot, docNo)) {
    if (other.row.id === groupId) continue;
    const status = statusOf(other.row, other.decision);
    if (status === GroupStatus.IGNORED) return "is in an ignored group";
    if (status === GroupStatus.PENDING && primaryOf(other.row, other.decision) === docNo)
      return "is the primary of another group";
    const hashOf = (one: number): Uint8Array | undefined =>
      snapshot.get(documents, one)?.contentHash;
    const rejected = rejectedSets(other.decision, hashOf);
    if (rejected.some((set) => set.includes(docNo) && set.includes(keepDocNo)))
      return "was decided to be no duplicate of the document that stays";
  }
  return undefined;
}

function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
