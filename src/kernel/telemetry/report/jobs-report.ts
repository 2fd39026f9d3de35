/** Job metrics, derived from status changes: running jobs, results and durations. */
import type { Job } from "../../jobs/types.ts";
import { jobsDuration, jobsRunning, jobsTotal } from "./service-metrics.ts";
import type { Scope } from "../types.ts";

const MILLISECONDS = 1_000;

/** The `changed` callback of jobs; one for all jobs of the process. */
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
    // A job cancelled while queued has not run. The wall clock may have been set back meanwhile.
    if (startedAtMs !== undefined && completedAtMs !== undefined)
      scope.record(jobsDuration, Math.max(0, completedAtMs - startedAtMs) / MILLISECONDS, { type });
  };
}
