/** Counts jobs by their changes of status: what runs, how it ended, how long it took. */
import type { Job } from "../jobs/types.ts";
import { jobsDuration, jobsRunning, jobsTotal } from "./service-metrics.ts";
import type { Scope } from "./types.ts";

const MILLISECONDS = 1_000;

/** For `changed` of jobs; one for all jobs of the process. */
export function createJobsReport(scope: Scope): (job: Job) => void {
  const running = new Map<string, Set<string>>();
  return (job) => {
    const { type, status } = job;
    const ids = running.get(type) ?? new Set();
    running.set(type, ids);
    if (status === "running") ids.add(job.id);
    else ids.delete(job.id);
    scope.gauge(jobsRunning, ids.size, { type });
    if (status === "pending" || status === "running") return;
    scope.add(jobsTotal, 1, { type, outcome: status });
    const { startedAtMs, completedAtMs } = job;
    // A job that was cancelled before its turn has not run. The wall clock may have been set back
    // meanwhile.
    if (startedAtMs !== undefined && completedAtMs !== undefined)
      scope.record(jobsDuration, Math.max(0, completedAtMs - startedAtMs) / MILLISECONDS, { type });
  };
}
