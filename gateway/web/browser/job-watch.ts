/** The job that runs, as `/duplicates` shows it: started here or elsewhere, followed to its end. */
import type { Progress } from "../review/head.ts";
import type { DuplicatesFacts } from "../review/load.ts";
import { valueOf } from "../review/load.ts";
import { createJobFollower } from "./job-follower.ts";
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
  /** Of the job that is followed. */
  let type: Progress["type"] = "sync";
  const jobs = createJobFollower({
    draw: () => deps.draw(),
    ended(_jobId, event) {
      if (event?.status === "failed")
        deps.failed(`The ${type} failed: ${event.errorMessage ?? "the log says why"}`);
      void deps.ended();
    },
  });
  const follow = (next: Progress["type"], jobId: string): void => {
    if (jobs.progress !== undefined) return;
    type = next;
    jobs.follow(jobId);
  };
  return {
    get progress() {
      return jobs.progress && { ...jobs.progress, type };
    },
    follow({ activity }) {
      const known = valueOf(activity);
      if (known === undefined) return;
      const { sync, analysis } = known;
      const [named, jobId] = sync.isSyncing
        ? (["sync", sync.currentJobId] as const)
        : (["analysis", analysis.isAnalyzing ? analysis.currentJobId : null] as const);
      if (jobId !== null) follow(named, jobId);
    },
    async start(chosen, started) {
      follow(chosen, await reviewClient.start(chosen));
      await started();
    },
  };
}
