/**
 * The job that applies many results, one after the other: Paperless-ngx takes one writer at a time.
 * Its position is stored with each result, and a result that was applied is never applied again.
 */
import { create } from "@bufbuild/protobuf";
import { AiResultStatus, type AiField } from "../../gen/steward/dedup/v1/ai_pb.ts";
import {
  AiApplyCursorSchema,
  AiApplyErrorSchema,
  AiApplyInputSchema,
  type AiApplyCursor,
  type AiApplyInput,
  type AiResultRow,
} from "../../gen/steward/state/v1/dedup_pb.ts";
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import type { JobContext, JobType } from "../../kernel/jobs/types.ts";
import { protobufCodec } from "../../kernel/state/values.ts";
import { createBrake, type Brake } from "../paperless/brake.ts";
import { createApplier, type Applier, type ApplyDeps } from "./apply.ts";
import { requireOn } from "./process-job.ts";

/** The result of a run. */
export interface ApplyJobResult {
  readonly applied: number;
  readonly failed: number;
  /** Not tried: the archive failed too often, or the job was cancelled. */
  readonly skipped: number;
  readonly total: number;
  /** The first 100. */
  readonly errors: readonly { readonly resultId: string; readonly error: string }[];
}

const ERRORS = 100;

const cursorCodec = protobufCodec(AiApplyCursorSchema);

export function createApplyJob(deps: ApplyDeps): JobType<AiApplyInput, ApplyJobResult> {
  return {
    type: "ai_apply",
    exclusive: "ai_apply",
    onCrash: "resume",
    input: protobufCodec(AiApplyInputSchema),
    phases: { apply: 1 },
    run: (job) => runApply(deps, job),
  };
}

async function runApply(deps: ApplyDeps, job: JobContext<AiApplyInput>): Promise<ApplyJobResult> {
  requireOn(deps);
  const { docNos, newestSerial } = job.input;
  deps.results.reserveSerials(newestSerial ?? 0);
  const stored = job.resume();
  const cursor =
    stored === undefined
      ? create(AiApplyCursorSchema, { startedAtMs: deps.clock.now() })
      : cursorCodec.read(stored);
  const save = (): Promise<void> => job.commit(() => undefined, cursorCodec.write(cursor));
  job.keepWhenCancelled(() => resultOf(cursor, docNos.length));
  // The start decides which result this job applied before a crash that came ahead of its record.
  if (stored === undefined) await save();
  const phase = job.phase("apply", Math.max(1, docNos.length));
  const applier = createApplier(deps);
  const brake = createBrake(cursor.failuresInARow);
  for (const docNo of docNos.slice(cursor.done)) {
    if (brake.isOn) break;
    await applyOne({ deps, job, applier, brake, cursor }, docNo);
    cursor.failuresInARow = brake.failures;
    cursor.done += 1;
    await save();
    phase.step(cursor.done, `${cursor.done} of ${docNos.length} results`);
  }
  const [first] = cursor.errors;
  if (cursor.applied === 0 && brake.isOn && first !== undefined)
    throw new StewardError("upstream", `no AI result was applied: ${first.error}`);
  return resultOf(cursor, docNos.length);
}

interface Applying {
  readonly deps: ApplyDeps;
  readonly job: JobContext<AiApplyInput>;
  readonly applier: Applier;
  readonly brake: Brake;
  readonly cursor: AiApplyCursor;
}

/** Counts what became of a result. Throws when the job is cancelled, or Steward itself fails. */
async function applyOne(
  { deps, job, applier, brake, cursor }: Applying,
  docNo: number,
): Promise<void> {
  const { fields, allowClearing, createMissing, newestSerial } = job.input;
  job.signal.throwIfAborted();
  const result = deps.results.row(docNo);
  try {
    if (result === undefined)
      throw new StewardError("not_found", `the AI result of document number ${docNo} is gone`);
    if (newestSerial !== undefined && result.serial > newestSerial) throw replacedBy(result);
    if (!isDone(result, fields, cursor)) {
      const options = { fields: fields as AiField[], allowClearing, createMissing };
      await applier.apply(result, options, job.signal);
    }
    cursor.applied += 1;
    brake.next(undefined);
  } catch (thrown) {
    job.signal.throwIfAborted();
    const error = toStewardError(thrown);
    if (error.code === "internal" || error.code === "disk_full" || error.code === "corrupt")
      throw thrown;
    if (error.code === "upstream") brake.next(error);
    cursor.failed += 1;
    const resultId = result?.id ?? "";
    job.note("failed", resultId);
    if (cursor.errors.length < ERRORS)
      cursor.errors.push(create(AiApplyErrorSchema, { resultId, error: error.message }));
  }
}

/**
 * Whether these fields were applied since the job began: by a reviewer, or by the job itself, which
 * was killed before its position was stored.
 */
function isDone(
  { status, appliedAtMs = 0, appliedFields }: AiResultRow,
  fields: readonly number[],
  { startedAtMs }: AiApplyCursor,
): boolean {
  return (
    (status === AiResultStatus.APPLIED || status === AiResultStatus.PARTIAL) &&
    appliedAtMs >= startedAtMs &&
    fields.every((field) => appliedFields.includes(field))
  );
}

/** A run made this result after others were chosen: nobody has looked at it. */
function replacedBy({ id, documentTitle }: AiResultRow): StewardError {
  return new StewardError(
    "not_found",
    `the AI result of ${JSON.stringify(documentTitle)} that was to be applied was replaced by ${id}; look at that one, and apply it`,
  );
}

function resultOf({ applied, failed, errors }: AiApplyCursor, total: number): ApplyJobResult {
  return {
    applied,
    failed,
    skipped: total - applied - failed,
    total,
    errors: errors.map(({ resultId, error }) => ({ resultId, error })),
  };
}
