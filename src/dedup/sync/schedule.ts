/** Scheduled syncs: a run starts a sync, or joins the one in progress, and ends with it. */
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import type { Job, JobType, Jobs } from "../../kernel/jobs/types.ts";
import type { Schedule } from "../../kernel/supervisor/schedule.ts";
import type { SyncInput, SyncResult } from "./result.ts";

/** No archive takes longer; a sync that hangs is cancelled then. */
const MAX_DURATION_MS = 24 * 3_600_000;
/**
 * A start is soon followed by a sync, for the archives may have changed meanwhile, but not at once.
 */
const MAX_STAGGER_MS = 300_000;
const HISTORY = 20;

export interface SyncScheduleDeps {
  readonly jobs: Pick<Jobs, "start" | "active" | "watch" | "cancel">;
  readonly job: JobType<SyncInput, SyncResult>;
}

/**
 * The schedule of a sync every `everyMs`. A run that is stopped leaves its sync to the next start
 * of the process, one that takes too long cancels it.
 */
export function createSyncSchedule({ jobs, job }: SyncScheduleDeps, everyMs: number): Schedule {
  return {
    name: "sync",
    everyMs,
    staggerMs: Math.min(everyMs, MAX_STAGGER_MS),
    overlap: "never",
    timeoutMs: MAX_DURATION_MS,
    history: HISTORY,
    async run({ signal }) {
      const { id } = jobs.active(job.exclusive) ?? (await begin(jobs, job));
      const ended = await endOf(jobs, id, signal);
      if (ended === undefined) {
        if (signal.aborted && toStewardError(signal.reason).code === "deadline")
          await jobs.cancel(id);
        signal.throwIfAborted();
      } else if (ended.status !== "completed")
        throw new StewardError("upstream", ended.error ?? `the sync was ${ended.status}`);
    },
  };
}

async function begin(
  jobs: SyncScheduleDeps["jobs"],
  job: SyncScheduleDeps["job"],
): Promise<Pick<Job, "id">> {
  try {
    return await jobs.start(job, { force: false, purge: false });
  } catch (thrown) {
    // Another sync was started at this moment.
    const active =
      toStewardError(thrown).code === "already_running" ? jobs.active(job.exclusive) : undefined;
    if (active === undefined) throw thrown;
    return active;
  }
}

/** The job as it ended; undefined when the signal fired first. */
async function endOf(
  jobs: SyncScheduleDeps["jobs"],
  id: string,
  signal: AbortSignal,
): Promise<Job | undefined> {
  for await (const { event, job } of jobs.watch(id, signal)) if (event === "complete") return job;
  return undefined;
}
