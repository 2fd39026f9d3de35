/** The progress of the job that a page follows: one at a time, to its end. */
import type { JobProgress } from "../pieces/job.ts";
import { followJob, type JobEvent } from "./job-stream.ts";

export interface JobFollower {
  /** Undefined while no job is followed. */
  readonly progress: JobProgress | undefined;
  /**
   * Does nothing while a job is followed, nor for the one that ended last: a status that was read
   * before its end still names it.
   */
  follow(jobId: string): void;
}

export interface JobFollowerDeps {
  /** The progress has changed. */
  draw(): void;
  /** `event` is the last one; undefined for a job that the API does not know. */
  ended(jobId: string, event: JobEvent | undefined): void;
}

export function createJobFollower(deps: JobFollowerDeps): JobFollower {
  let progress: JobProgress | undefined;
  let ended: string | undefined;
  const set = (next: JobProgress): void => {
    progress = next;
    deps.draw();
  };
  return {
    get progress() {
      return progress;
    },
    follow(jobId) {
      if (progress !== undefined || jobId === ended) return;
      set({ jobId, progress: Number.NaN, message: "", lost: false });
      followJob(jobId, {
        progress: (event) =>
          set({ jobId, progress: event.progress, message: event.message, lost: false }),
        lost: () => {
          if (progress !== undefined) set({ ...progress, lost: true });
        },
        ended(event) {
          [progress, ended] = [undefined, jobId];
          deps.ended(jobId, event);
        },
      });
    },
  };
}
