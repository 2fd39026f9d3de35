/**
 * Writes suggestions of one result to its archive, and restores what was there before. What the
 * document had, and what will be written, is stored before the archive is changed: after a crash
 * between the two, applying again keeps the first snapshot.
 */
import { AiField, AiResultStatus } from "../../gen/steward/dedup/v1/ai_pb.ts";
import type {
  AiResultRow,
  AiSnapshotRow,
  DocumentRow,
} from "../../gen/steward/state/v1/dedup_pb.ts";
import { createLingering } from "../../kernel/async/lingering.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import type { FailureClass } from "../../kernel/client/failure.ts";
import type { Env, Tx } from "../../kernel/state/types.ts";
import type { Archive } from "../archives/archive.ts";
import type { DocumentStore } from "../documents/store.ts";
import type { PaperlessWriter } from "../paperless/writer.ts";
import { aiResults, documents } from "../tables.ts";
import type { DedupReport } from "../telemetry/report.ts";
import { changeOf, restoring, type ApplyOptions, type Suggested } from "./change.ts";
import { addFeedback } from "./feedback.ts";
import type { AiSettings } from "./keys.ts";
import { createLabels, type Labels } from "./labels.ts";
import { fieldName, isAppliable, statusName } from "./result-names.ts";
import type { ResultStore } from "./result-store.ts";
import { keepFirst, keepWritten, plannedOf, snapshotOf, unnamed } from "./snapshot.ts";

export interface ApplyDeps {
  /** Whether AI is on. */
  readonly isOn: boolean;
  readonly env: Env;
  readonly documents: Pick<DocumentStore, "row" | "put">;
  readonly results: ResultStore;
  readonly archives: () => readonly Archive[];
  readonly clock: Clock;
  readonly settings: () => AiSettings;
  readonly report: Pick<DedupReport, "applied" | "span">;
}

/** What "all fields" means; a title is applied only where it is named. */
export const ALL_FIELDS: readonly AiField[] = [
  AiField.CORRESPONDENT,
  AiField.DOCUMENT_TYPE,
  AiField.TAGS,
];

/** For a document that is being written when its request or job is cancelled. */
const WRITE_GRACE_MS = 5_000;
/** Shown while a result is applied, and for good when Steward is killed then. */
const INTERRUPTED =
  "applying it has begun and its outcome is not recorded; if it is not running any more, apply it again or revert it";

/** Applies and reverts; keeps the names of each archive for its own lifetime, so make one a call. */
export interface Applier {
  /**
   * Throws `conflict` for a state or an archive that does not allow it, `not_found` when the
   * document is gone or a run has replaced the result, `upstream` when the archive failed: then the
   * state stays.
   */
  apply(row: AiResultRow, options: ApplyOptions, signal: AbortSignal): Promise<void>;
  /** Throws `invalid` (BAD_REQUEST) when nothing was applied. */
  revert(row: AiResultRow, signal: AbortSignal): Promise<void>;
}

export function createApplier(deps: ApplyDeps): Applier {
  const labelsOf = new Map<string, Labels>();
  const labels = (writer: PaperlessWriter): Labels => {
    const known = labelsOf.get(writer.name) ?? createLabels(writer);
    labelsOf.set(writer.name, known);
    return known;
  };
  return {
    apply: (row, options, signal) =>
      deps.report.span("dedupe.ai.apply", {}, () => apply(row, options, signal)),
    revert: (row, signal) => deps.report.span("dedupe.ai.revert", {}, () => revert(row, signal)),
  };

  async function apply(
    result: AiResultRow,
    options: ApplyOptions,
    signal: AbortSignal,
  ): Promise<void> {
    if (!isAppliable(result.status)) throw notAppliable(result);
    using _claim = deps.results.claim(result);
    const { document, writer, id } = targetOf(deps, result.docNo);
    try {
      const live = await writer.document(id, signal);
      if (live === undefined) throw await documentGone(deps, result, document);
      await write(
        deps,
        { result, document, writer, id, live, labels: labels(writer) },
        options,
        signal,
      );
    } catch (error) {
      if (!signal.aborted) deps.report.applied("failed");
      await rememberFailure(deps, result, error);
      throw error;
    }
    deps.report.applied("applied");
  }

  async function revert(result: AiResultRow, signal: AbortSignal): Promise<void> {
    const { before, written, docNo } = result;
    if (before === undefined || result.appliedFields.length + result.applyingFields.length === 0)
      throw notApplied(result);
    using _claim = deps.results.claim(result);
    const { document, writer, id } = targetOf(deps, docNo);
    using step = createLingering(deps.clock, signal, WRITE_GRACE_MS);
    const live = await writer.update(
      id,
      (now) => restoring(result, before, written, now),
      step.signal,
    );
    if (live === undefined)
      throw new StewardError(
        "not_found",
        `document ${document.id} is gone from archive ${document.archive}`,
      );
    const shown = await snapshotOf(live, labels(writer), step.signal);
    await deps.env.write((tx) => {
      takeOver(deps, tx, docNo, shown);
      const now = presentRow(tx, result);
      if (now === undefined) return;
      now.status = AiResultStatus.REVERTED;
      now.revertedAtMs = deps.clock.now();
      now.appliedFields = [];
      now.applyingFields = [];
      delete now.before;
      delete now.written;
      delete now.errorMessage;
      deps.results.put(tx, now);
    });
    deps.report.applied("reverted");
  }
}

interface Target {
  readonly document: DocumentRow;
  readonly writer: PaperlessWriter;
  readonly id: number;
}

interface Writing extends Target, Suggested {}

function targetOf({ documents: store, archives }: ApplyDeps, docNo: number): Target {
  const document = store.row(docNo);
  if (document === undefined)
    throw new StewardError("not_found", "the document of this result is gone; run a sync");
  const writer = archives().find(({ name }) => name === document.archive)?.writer;
  if (writer === undefined || document.paperlessId === undefined)
    throw notApplicable(document.archive);
  return { document, writer, id: document.paperlessId };
}

/** Steward writes metadata to a Paperless-ngx only. */
export function notApplicable(archive: string): StewardError {
  return new StewardError(
    "conflict",
    `archive ${archive} is not a Paperless-ngx, so that its documents have no metadata to write`,
    { remedy: "use the suggestions of GET /api/v1/ai/results in your own tool" },
  );
}

async function write(
  deps: ApplyDeps,
  writing: Writing,
  options: ApplyOptions,
  signal: AbortSignal,
): Promise<void> {
  const { result, writer, id, live, labels, document } = writing;
  const change = await changeOf(deps.settings(), writing, options, signal);
  if (Object.keys(change(live)).length === 0)
    throw new StewardError("conflict", `AI result ${result.id} suggests nothing for these fields`, {
      remedy: "choose other fields, or reject it",
    });
  const now = await snapshotOf(live, labels, signal);
  const planned = change(live);
  signal.throwIfAborted();
  const isStored = await store(deps, result, (row) => {
    // Rejected since it was read.
    if (!isAppliable(row.status)) throw notAppliable(row);
    row.before = keepFirst(row, now, planned);
    row.written = keepWritten(row, plannedOf(now, planned), planned);
    row.applyingFields = [...new Set([...row.applyingFields, ...options.fields])];
    row.errorMessage = INTERRUPTED;
  });
  if (!isStored) throw replaced(result.id);
  // Begun, it is not cut off by a cancel or a client that leaves.
  using step = createLingering(deps.clock, signal, WRITE_GRACE_MS);
  const after = await writer.update(id, change, step.signal);
  if (after === undefined) throw await documentGone(deps, result, document);
  const shown = await snapshotOf(after, labels, step.signal);
  await deps.env.write((tx) => {
    takeOver(deps, tx, result.docNo, shown);
    const row = presentRow(tx, result);
    if (row === undefined) return;
    const applied = new Set<number>([...row.appliedFields, ...options.fields]);
    row.written = keepWritten(row, shown, planned);
    row.appliedFields = [...applied].toSorted((left, right) => left - right);
    const isWhole = ALL_FIELDS.every((field) => applied.has(field));
    row.status = isWhole ? AiResultStatus.APPLIED : AiResultStatus.PARTIAL;
    row.appliedAtMs = deps.clock.now();
    row.applyingFields = [];
    delete row.errorMessage;
    delete row.revertedAtMs;
    deps.results.put(tx, row);
    if (!isWhole)
      addFeedback(tx, {
        resultId: row.id,
        action: "partial_applied",
        rejectedFields: ALL_FIELDS.filter((field) => !applied.has(field)).map(fieldName),
        atMs: deps.clock.now(),
      });
  });
}

/** The stored document shows what the archive has now; its next sync finds the same. */
function takeOver(deps: ApplyDeps, tx: Tx, docNo: number, shown: AiSnapshotRow): void {
  const row = tx.get(documents, docNo);
  if (row === undefined) return;
  row.title = shown.title;
  row.tags = shown.tagNames.filter((name, at) => name !== unnamed(shown.tags[at] as number));
  delete row.correspondent;
  delete row.documentType;
  if (shown.correspondentName !== undefined) row.correspondent = shown.correspondentName;
  if (shown.documentTypeName !== undefined) row.documentType = shown.documentTypeName;
  deps.documents.put(tx, row);
}

/** The stored result; undefined when it is gone or a run has replaced it. */
function presentRow(tx: Tx, { docNo, id }: AiResultRow): AiResultRow | undefined {
  const row = tx.get(aiResults, docNo);
  return row?.id === id ? row : undefined;
}

/** Returns false and changes nothing when the result is gone or a run has replaced it. */
async function store(
  { env, results }: ApplyDeps,
  result: AiResultRow,
  change: (row: AiResultRow) => void,
): Promise<boolean> {
  return await env.write((tx) => {
    const row = presentRow(tx, result);
    if (row === undefined) return false;
    change(row);
    results.put(tx, row);
    return true;
  });
}

/** A failure of the archive is shown with the result, whose state stays. */
async function rememberFailure(
  deps: ApplyDeps,
  result: AiResultRow,
  thrown: unknown,
): Promise<void> {
  const error = toStewardError(thrown);
  if (error.code !== "upstream") return;
  await store(deps, result, (row) => {
    row.errorMessage = error.message;
    if (FINAL.has(error.rule ?? "")) row.applyingFields = [];
  });
}

/** Failures after which the document is known to be as it was. */
const FINAL: ReadonlySet<string> = new Set([
  "auth",
  "forbidden",
  "not_found",
  "rejected",
  "rate_limited",
  "redirect",
] satisfies FailureClass[]);

async function documentGone(
  deps: ApplyDeps,
  result: AiResultRow,
  { id, archive }: DocumentRow,
): Promise<StewardError> {
  const message = `document ${id} is gone from archive ${archive}`;
  await store(deps, result, (row) => {
    row.status = AiResultStatus.FAILED;
    row.failureType = "document_not_found";
    row.errorMessage = message;
  });
  return new StewardError("not_found", message, { remedy: "run a sync" });
}

/** The result that was chosen is gone: nobody has looked at the one that the document has now. */
function replaced(id: string): StewardError {
  return new StewardError(
    "not_found",
    `AI result ${id} was replaced by a run that processed its document again`,
    { remedy: "look at the new result, and apply that" },
  );
}

function notAppliable({ id, status }: AiResultRow): StewardError {
  return new StewardError(
    "conflict",
    `AI result ${id} is ${statusName(status)}; only pending, partial and reverted ones can be applied`,
    { remedy: "process the document again for new suggestions" },
  );
}

function notApplied({ id, status }: AiResultRow): StewardError {
  return new StewardError(
    "invalid",
    `AI result ${id} is ${statusName(status)}: nothing of it was applied that could be reverted`,
    { rule: "bad_request" },
  );
}
