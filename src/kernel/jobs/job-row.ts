/**
 * How jobs are stored: one row each, found by what they exclude while active and by their order of
 * creation.
 */
import { create } from "@bufbuild/protobuf";
import { JobRowSchema } from "../../gen/steward/state/v1/jobs_pb.ts";
import type { JobRow } from "../../gen/steward/state/v1/jobs_pb.ts";
import { stringKey } from "../state/keys.ts";
import { defineTable } from "../state/table.ts";
import type { Snapshot, Table } from "../state/types.ts";
import { protobufCodec } from "../state/values.ts";
import type { Job, JobStatus } from "./types.ts";

/** Finished jobs that are kept; the oldest go first. */
const KEPT_JOBS = 1_000;

/**
 * Jobs by id. `active` holds one job per exclusive name by being unique; `order` and `finished` are
 * by creation.
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

/** True while a job may still do something. */
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

/** A row as its watchers see it. */
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

/** Keys of the finished jobs that are too many, oldest first. */
export function overdue(snapshot: Snapshot): string[] {
  const finished = snapshot.find(jobs, "finished", []);
  return finished.slice(0, Math.max(0, finished.length - KEPT_JOBS));
}
