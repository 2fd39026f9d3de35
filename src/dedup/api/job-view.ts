/** Jobs as the API shows them: three types on the wire, everything else an operation. Pure. */
import type { JsonObject, JsonValue, MessageInitShape } from "@bufbuild/protobuf";
import { fromJson } from "@bufbuild/protobuf";
import { ValueSchema, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { JobOperation, JobStatus, JobType } from "../../gen/steward/dedup/v1/jobs_pb.ts";
import type {
  JobSchema,
  ListJobsRequest,
  WatchJobResponseSchema,
} from "../../gen/steward/dedup/v1/jobs_pb.ts";
import type {
  Job,
  JobEvent,
  JobQuery,
  JobStatus as StoredStatus,
} from "../../kernel/jobs/types.ts";

const operations: Readonly<Record<string, JobOperation>> = {
  ai_processing: JobOperation.AI_PROCESSING,
  ai_apply: JobOperation.AI_APPLY,
  delete_non_primary: JobOperation.DELETE_NON_PRIMARY,
};

const statuses: Readonly<Record<StoredStatus, JobStatus>> = {
  pending: JobStatus.PENDING,
  running: JobStatus.RUNNING,
  completed: JobStatus.COMPLETED,
  failed: JobStatus.FAILED,
  cancelled: JobStatus.CANCELLED,
};

/** The status on the wire. */
export function showStatus(status: StoredStatus): JobStatus {
  return statuses[status];
}

/** A job on the wire. */
export function showJob(job: Job): MessageInitShape<typeof JobSchema> {
  const result = resultOf(job);
  return {
    id: job.id,
    type: typeOf(job.type),
    status: statuses[job.status],
    progress: job.progress,
    progressMessage: job.message,
    createdAt: timestampFromMs(job.createdAtMs),
    ...(job.startedAtMs === undefined ? {} : { startedAt: timestampFromMs(job.startedAtMs) }),
    ...(job.completedAtMs === undefined ? {} : { completedAt: timestampFromMs(job.completedAtMs) }),
    ...(job.error === undefined ? {} : { errorMessage: job.error }),
    ...(job.phaseProgress === undefined ? {} : { phaseProgress: job.phaseProgress }),
    ...(result === undefined
      ? {}
      : { resultJson: job.resultJson ?? "", result: fromJson(ValueSchema, result) }),
    operation: operations[job.type] ?? JobOperation.UNSPECIFIED,
  };
}

/** An event of a watched job on the wire. */
export function showEvent({
  event,
  job,
}: JobEvent): MessageInitShape<typeof WatchJobResponseSchema> {
  const result = event === "complete" ? resultOf(job) : undefined;
  return {
    event,
    progress: job.progress,
    message: job.message,
    status: statuses[job.status],
    ...(job.phaseProgress === undefined ? {} : { phaseProgress: job.phaseProgress }),
    ...(event === "complete" && job.error !== undefined ? { errorMessage: job.error } : {}),
    ...(isObject(result) ? { result } : {}),
  };
}

/** The data of an event stream's frame: at the end the result's keys stand beside the others. */
export function frameData({ event, job }: JobEvent): JsonObject {
  const shared: JsonObject = {
    progress: job.progress,
    phaseProgress: job.phaseProgress ?? null,
    message: job.message,
    status: job.status,
  };
  if (event === "progress") return shared;
  const ended: JsonObject = { ...shared, errorMessage: job.error ?? null };
  const result = resultOf(job);
  return { ...ended, ...(isObject(result) ? result : {}), ...ended };
}

/**
 * The query behind a list request; undefined when type and operation exclude each other, so that
 * nothing can match.
 */
export function listQuery(request: ListJobsRequest): JobQuery | undefined {
  const types = typesOf(request);
  if (types?.length === 0) return undefined;
  const status = (Object.keys(statuses) as StoredStatus[]).find(
    (name) => statuses[name] === request.status,
  );
  return {
    limit: request.limit ?? 50,
    ...(types === undefined ? {} : { types }),
    ...(status === undefined ? {} : { status }),
  };
}

function typesOf({ type, operation }: ListJobsRequest): string[] | undefined {
  if (type === JobType.UNSPECIFIED && operation === JobOperation.UNSPECIFIED) return undefined;
  const all = ["sync", "analysis", ...Object.keys(operations)];
  return all.filter(
    (name) =>
      (type === JobType.UNSPECIFIED || typeOf(name) === type) &&
      (operation === JobOperation.UNSPECIFIED || operations[name] === operation),
  );
}

function typeOf(name: string): JobType {
  return name === "sync"
    ? JobType.SYNC
    : name === "analysis"
      ? JobType.ANALYSIS
      : JobType.BATCH_OPERATION;
}

function resultOf({ resultJson }: Job): JsonValue | undefined {
  return resultJson === undefined ? undefined : (JSON.parse(resultJson) as JsonValue);
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
