/**
 * Storage of jobs: one row each, indexed by exclusive name while active and by order of creation.
 */
import { create } from "@bufbuild/protobuf";
import { JobRowSchema } from "../../gen/steward/state/v1/jobs_pb.ts";
import type { JobRow } from "../../gen/steward/state/v1/jobs_pb.ts";
import { stringKey } from "../state/keys.ts";
import { defineTable } from "../state/table.ts";
import type { Snapshot, Table } from "../state/types.ts";
import { protobufCodec } from "../state/values.ts";
import type { Job, JobStatus } from "./types.ts";

/** Number of finished jobs kept; the oldest are deleted first. */
const KEPT_JOBS = 1_000;

/**
 * Jobs by id. The unique index `active` holds one job per exclusive name; `order` and `finished`
 * are by creation.
 */
export const jobs: Table<string, JobRow> = defineTable({
  name: "jobs",
  key: stringKey,
  value: protobufCodec(JobRowSchema),
  limit: { rows: 10_000 },
  indexes: [
    { name: "active", unique: true, of: (row) => (isActive(row.status) ? [[row.exclusive]] : []) },
    { name: "order", unique: true, of: (row) => [[Number(row.seq)]] },
    {
      name: "finished",
      unique: true,
      of: (row) => (isActive(row.status) ? [] : [[Number(row.seq)]]),
    },
  ],
});

/** Whether a job is pending or running. */
export function isActive(status: string): boolean {
  return status === "pending" || status === "running";
}

/** A row for a job that has not started. */
export function newRow(fields: {
  id: string;
  type: string;
  exclusive: string;
  input: Uint8Array;
  createdAtMs: number;
  seq: number;
}): JobRow {
  return create(JobRowSchema, { ...fields, status: "pending", seq: BigInt(fields.seq) });
}

/** A row as shown to watchers. */
export function showRow(row: JobRow): Job {
  return {
    id: row.id,
    type: row.type,
    status: row.status as JobStatus,
    progress: row.progress,
    phaseProgress: row.phaseProgress,
    message: row.message,
    createdAtMs: row.createdAtMs,
    startedAtMs: row.startedAtMs,
    completedAtMs: row.completedAtMs,
    error: row.error,
    resultJson: row.resultJson,
    exclusive: row.exclusive,
  };
}

/** Keys of finished jobs beyond the limit, oldest first. */
export function overdue(snapshot: Snapshot): string[] {
  const finished = snapshot.find(jobs, "finished", []);
  return finished.slice(0, Math.max(0, finished.length - KEPT_JOBS));
}
