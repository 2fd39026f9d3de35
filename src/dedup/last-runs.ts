/**
 * How the newest sync and the newest analysis ended, from memory: a failure stays known until a
 * later run completes.
 */
import type { Job } from "../kernel/jobs/types.ts";

/** A job whose newest run failed. */
export interface FailedRun {
  /** `sync` or `analysis`. */
  readonly type: string;
  readonly jobId: string;
  /** May name files: for administrators. */
  readonly error: string;
}

/** The failures of the newest runs. */
export interface LastRuns {
  /** Call for each change of a job. Cancelled runs are ignored. */
  note(job: Pick<Job, "id" | "type" | "status" | "error">): void;
  failed(): readonly FailedRun[];
}

/** Creates it; nothing has failed before the first note. */
export function createLastRuns(): LastRuns {
  const failures = new Map<string, FailedRun>();
  return {
    note({ id, type, status, error }) {
      if (status === "completed") failures.delete(type);
      if (status === "failed")
        failures.set(type, { type, jobId: id, error: error ?? "the log says why" });
    },
    failed: () => [...failures.values()],
  };
}
