/**
 * One run of a job: its context and its state in memory. Whether the job still runs is decided by
 * its row inside each transaction, so nothing is stored after a cancel.
 */
import { assert, StewardError } from "../base/errors.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { JobRow } from "../../gen/steward/state/v1/jobs_pb.ts";
import type { Env, Tx } from "../state/types.ts";
import type { AnyJobType } from "./types.ts";
import { jobs } from "./job-row.ts";
import { createNotes } from "./notes.ts";
import { createProgress } from "./progress.ts";
import type { Progress } from "./progress.ts";
import type { JobContext } from "./types.ts";

const PROGRESS_WRITE_MS = 250;

export interface JobRunDeps {
  readonly env: Env;
  readonly clock: Clock;
  readonly log: Log;
  /** Called after each change of progress. */
  readonly changed: (id: string) => void;
}

/** A run of one job in this process. */
export interface JobRun {
  readonly id: string;
  readonly progress: Progress;
  readonly context: JobContext<unknown>;
  /** What a cancelled job keeps as its result, as JSON; undefined when it keeps none. */
  cancelledResult(): string | undefined;
  /** Fires the signal with this reason. */
  interrupt(reason: StewardError): void;
  /** Stops writing progress. */
  close(): void;
}

/** A run that continues from the row. Throws when the stored input cannot be read. */
export function createJobRun(type: AnyJobType, row: JobRow, deps: JobRunDeps): JobRun {
  const { env, clock, log } = deps;
  const { id } = row;
  const controller = new AbortController();
  const notes = createNotes(row.notes);
  const input = type.input.read(row.input);
  let timer: Disposable | undefined;
  let closed = false;
  let kept: (() => unknown) | undefined;
  const progress = createProgress(
    type.phases,
    { progress: row.progress, phaseProgress: row.phaseProgress, message: row.message },
    () => {
      deps.changed(id);
      if (!closed) timer ??= clock.timer(clock.monotonic() + PROGRESS_WRITE_MS, saveProgress);
    },
  );
  const saveProgress = (): void => {
    env
      .write((tx) => updateRunning(tx, id, progress.state))
      .catch((error: unknown) =>
        log.warn("cannot store the progress of a job", { job_id: id, error }),
      )
      .finally(() => {
        timer = undefined;
      });
  };
  const context: JobContext<unknown> = {
    id,
    input,
    signal: controller.signal,
    phase: (name, total) => progress.phase(name, total),
    commit: (change, cursor) =>
      env.write((tx) => {
        controller.signal.throwIfAborted();
        assertRunning(tx, id);
        change(tx);
        updateRunning(
          tx,
          id,
          cursor === undefined ? {} : { ...progress.state, cursor, notes: notes.list() },
        );
      }),
    resume: () => row.cursor,
    keepWhenCancelled(result) {
      kept = result;
    },
    note: (kind, item) => notes.add(kind, item),
    notes: () => notes.counts(),
  };
  return {
    id,
    progress,
    context,
    cancelledResult: () => kept && JSON.stringify(kept()),
    interrupt: (reason) => controller.abort(reason),
    close() {
      closed = true;
      timer?.[Symbol.dispose]();
    },
  };
}

/** Changes the row of a running job; false for any other job, which is left unchanged. */
export function updateRunning(tx: Tx, id: string, fields: Partial<JobRow>): boolean {
  const row = tx.get(jobs, id);
  if (row?.status !== "running") return false;
  if (Object.keys(fields).length > 0) tx.put(jobs, id, { ...row, ...fields });
  return true;
}

function assertRunning(tx: Tx, id: string): void {
  const status = tx.get(jobs, id)?.status;
  assert(status !== undefined, `the job ${id} has a row`);
  if (status !== "running") throw new StewardError("cancelled", `the job ${id} is ${status}`);
}
