/**
 * What follows by itself: an analysis after a sync when something changed or documents wait for
 * one, and the first sync of a demo.
 */
import { toStewardError } from "../kernel/base/errors.ts";
import type { Log } from "../kernel/base/log.ts";
import type { Job, Jobs, JobType } from "../kernel/jobs/types.ts";
import type { AnalysisInput, AnalysisResult } from "./analysis/job.ts";
import type { DocumentStore } from "./documents/store.ts";
import type { SyncInput, SyncResult } from "./sync/result.ts";

export interface ChainDeps {
  readonly jobs: Pick<Jobs, "start" | "active" | "watch">;
  readonly sync: JobType<SyncInput, SyncResult>;
  readonly analysis: JobType<AnalysisInput, AnalysisResult>;
  readonly documents: WaitingDocuments;
  readonly log: Log;
}

type WaitingDocuments = Pick<DocumentStore, "row" | "text"> & {
  readonly index: Pick<DocumentStore["index"], "pending" | "select">;
};

/** Starts jobs automatically. */
export interface Chain {
  /**
   * Starts an analysis when a sync changed so many documents, or when some wait for one: now, or
   * once more when the one that runs has ended, since it began before the change.
   */
  analyse(changed: number): void;
  /** With force: the demo's archive may be another one than at the last start. */
  sync(): Promise<void>;
  /** Starts nothing any more. */
  stop(): void;
}

/** A chain that has started nothing yet. */
export function createChain({ jobs, sync, analysis, documents, log }: ChainDeps): Chain {
  const stopping = new AbortController();
  let again = false;
  let isChanged = false;

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

  async function endOf(id: string): Promise<Job | undefined> {
    for await (const { event, job } of jobs.watch(id, stopping.signal))
      if (event === "complete") return job;
    return undefined;
  }

  async function whenFree(): Promise<void> {
    const active = jobs.active(analysis.exclusive);
    const ended = active && (await endOf(active.id));
    // What waited was perhaps analysed meanwhile. One that failed or was cancelled is not repeated
    // at once without a change, but by the next sync.
    const mayRepeat = ended === undefined || ended.status === "completed";
    const isNeeded = isChanged || (mayRepeat && someWait(documents));
    [again, isChanged] = [false, false];
    if (isNeeded) await start(analysis, { force: false });
  }

  return {
    analyse(changed) {
      isChanged ||= changed > 0;
      if (again) return;
      again = true;
      void whenFree().catch((error: unknown) => {
        [again, isChanged] = [false, false];
        // Stopping interrupts the watch.
        if (!stopping.signal.aborted) log.error("cannot start the analysis", { error });
      });
    },
    sync: () => start(sync, { force: true, purge: false }),
    stop: () => stopping.abort(),
  };
}

/** Waiting documents that are looked at; when all their texts are missing, a store is damaged. */
const MAX_LOOKED_AT = 1_000;

/** Whether documents wait that an analysis would take: one whose text is missing waits on. */
function someWait({ index, row, text }: WaitingDocuments): boolean {
  if (index.pending === 0) return false;
  return index
    .select({ pending: true }, { offset: 0, limit: MAX_LOOKED_AT })
    .docNos.some((docNo) => {
      const found = row(docNo);
      return found && (found.contentHash.length === 0 || text(found) !== undefined);
    });
}
