/** The job that runs, as `/duplicates` shows it: started here or elsewhere, followed to its end. */
import type { Progress } from "../review/head.ts";
import type { DuplicatesFacts } from "../review/load.ts";
import { valueOf } from "../review/load.ts";
import { followJob } from "./job-stream.ts";
import { reviewClient } from "./review-client.ts";

export interface JobWatch {
  readonly progress: Progress | undefined;
  /** Follows the job that the facts name, if it is not followed yet. */
  follow(facts: DuplicatesFacts): void;
  /** Rejects with a sentence for the reader. `started` is for facts that name the new job. */
  start(type: Progress["type"], started: () => Promise<void>): Promise<void>;
}

export interface JobWatchDeps {
  draw(): void;
  /** A job ended: lists may be others now. */
  ended(): Promise<void>;
  failed(problem: string): void;
}

export function createJobWatch(deps: JobWatchDeps): JobWatch {
  let progress: Progress | undefined;
  let ended: string | undefined;
  const watch = (type: Progress["type"], jobId: string): void => {
    progress = { jobId, type, progress: Number.NaN, message: "", lost: false };
    followJob(jobId, {
      progress: (event) => {
        progress = { jobId, type, progress: event.progress, message: event.message, lost: false };
        deps.draw();
      },
      lost: () => {
        if (progress === undefined) return;
        progress = { ...progress, lost: true };
        deps.draw();
      },
      ended: (event) => {
        [progress, ended] = [undefined, jobId];
        if (event?.status === "failed")
          deps.failed(`The ${type} failed: ${event.errorMessage ?? "the log says why"}`);
        void deps.ended();
      },
    });
    deps.draw();
  };
  return {
    get progress() {
      return progress;
    },
    follow({ activity }) {
      const known = valueOf(activity);
      if (known === undefined || progress !== undefined) return;
      const { sync, analysis } = known;
      const [type, jobId] = sync.isSyncing
        ? (["sync", sync.currentJobId] as const)
        : (["analysis", analysis.isAnalyzing ? analysis.currentJobId : null] as const);
      if (jobId !== null && jobId !== ended) watch(type, jobId);
    },
    async start(type, started) {
      const jobId = await reviewClient.start(type);
      if (progress === undefined) watch(type, jobId);
      await started();
    },
  };
}
