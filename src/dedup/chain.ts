/**
 * What follows by itself: an analysis after a sync that changed something, and the first sync of a
 * demo.
 */
import { toStewardError } from "../kernel/base/errors.ts";
import type { Log } from "../kernel/base/log.ts";
import type { Jobs, JobType } from "../kernel/jobs/types.ts";
import type { AnalysisInput, AnalysisResult } from "./analysis/job.ts";
import type { SyncInput, SyncResult } from "./sync/result.ts";

/** What the chain starts. */
export interface ChainDeps {
  readonly jobs: Pick<Jobs, "start" | "active" | "watch">;
  readonly sync: JobType<SyncInput, SyncResult>;
  readonly analysis: JobType<AnalysisInput, AnalysisResult>;
  readonly log: Log;
}

/** Starts jobs automatically. */
export interface Chain {
  /**
   * Starts an analysis now, or once more when the one that runs has ended: it began before the
   * change.
   */
  analyse(): void;
  /** With force: the demo's archive may be another one than at the last start. */
  sync(): Promise<void>;
  /** Starts nothing any more. */
  stop(): void;
}

/** A chain that has started nothing yet. */
export function createChain({ jobs, sync, analysis, log }: ChainDeps): Chain {
  const stopping = new AbortController();
  let again = false;

  async function start<I>(type: JobType<I, unknown>, input: I): Promise<void> {
    if (stopping.signal.aborted) return;
    try {
      await jobs.start(type, input);
    } catch (thrown) {
      const error = toStewardError(thrown);
      // The same job was started by someone else at this moment.
      if (error.code !== "already_running")
        log.error(`cannot start the ${type.type}`, { error: thrown });
    }
  }

  async function whenFree(): Promise<void> {
    const active = jobs.active(analysis.exclusive);
    if (active) {
      for await (const event of jobs.watch(active.id, stopping.signal))
        if (event.event === "complete") break;
    }
    again = false;
    await start(analysis, { force: false });
  }

  return {
    analyse() {
      if (again) return;
      again = true;
      void whenFree().catch(() => {
        // Only stopping interrupts the watch.
        again = false;
      });
    },
    sync: () => start(sync, { force: true, purge: false }),
    stop: () => stopping.abort(),
  };
}
