/**
 * Durable background jobs in one environment. Every status change is a compare-and-set inside a
 * transaction; `recover` resumes or fails jobs left by a process that died.
 */
import { assert, StewardError, toStewardError } from "../base/errors.ts";
import { delay } from "../base/clock.ts";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { JobRow } from "../../gen/steward/state/v1/jobs_pb.ts";
import type { AnyTable, Tx } from "../state/types.ts";
import type { AnyJobType, Job, JobEvent, JobQuery, Jobs, JobsDeps, JobType } from "./types.ts";
import { isActive, jobs, newRow, overdue, showRow } from "./job-row.ts";
import { createJobRun, updateRunning } from "./job-run.ts";
import type { JobRun } from "./job-run.ts";
import { createWatchers } from "./watchers.ts";
import type { Watchers } from "./watchers.ts";
import { waitFor } from "../async/wait.ts";

const HEARTBEAT_MS = 500;
const RETRY_MS = 1_000;
/** Of a job that has ended, below the limit of a change; a result beyond it is not stored. */
const MAX_ROW_BYTES = 768 * 1024;
/** A job is given up after this many starts that ended in a crash of the process. */
const MAX_ATTEMPTS = 3;

/** The tables that an environment needs for jobs. */
export const jobTables: readonly AnyTable[] = [jobs];

/** The environment must contain `jobTables`. */
export interface JobsOptions extends JobsDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Called after every stored status change. */
  readonly changed?: (job: Job) => void;
}

/** Call `recover` once before the process is ready. */
export function createJobs(options: JobsOptions, types: readonly AnyJobType[]): Jobs {
  return new EnvJobs(options, types);
}

/** Otherwise progress would stop short of the end, or exceed it. */
function assertWhole(type: string, phases: Readonly<Record<string, number>>): void {
  const sum = Object.values(phases).reduce((total, share) => total + share, 0);
  assert(Math.abs(sum - 1) < 1e-9, `the phases of ${type} add up to 1 and not to ${sum}`);
}

class EnvJobs implements Jobs {
  readonly #options: JobsOptions;
  readonly #types: ReadonlyMap<string, AnyJobType>;
  readonly #watchers: Watchers;
  readonly #runs = new Map<
    string,
    { readonly run: JobRun | undefined; readonly ended: Promise<void> }
  >();
  readonly #stopping = new AbortController();
  #lastSeq: number;

  constructor(options: JobsOptions, types: readonly AnyJobType[]) {
    this.#options = options;
    this.#types = new Map(types.map((type) => [type.type, type]));
    assert(this.#types.size === types.length, "every kind of job has a name of its own");
    for (const { type, phases } of types) assertWhole(type, phases);
    this.#watchers = createWatchers(options.clock);
    this.#lastSeq = options.env.read((snapshot) => {
      const newest = snapshot.find(jobs, "order", []).at(-1);
      return newest === undefined ? 0 : Number(snapshot.get(jobs, newest)?.seq ?? 0);
    });
  }

  async start<I>(type: JobType<I, unknown>, input: I): Promise<Job> {
    const known = this.#types.get(type.type);
    assert(known !== undefined, `the kind of job ${type.type} was given to createJobs`);
    this.#assertTaking();
    const { env, ids, clock } = this.#options;
    const seq = (this.#lastSeq += 1);
    const row = newRow({
      id: ids.nanoid(),
      type: type.type,
      exclusive: type.exclusive,
      input: type.input.write(input),
      createdAtMs: clock.now(),
      seq,
    });
    await env.write((tx) => {
      const active = tx.find(jobs, "active", [type.exclusive])[0];
      if (active !== undefined) throw alreadyRunning(type.exclusive, active);
      tx.put(jobs, row.id, row);
      tx.after(() => this.#options.changed?.(showRow(row)));
      tx.after(() => this.#launch(known, row));
    });
    return showRow(row);
  }

  async cancel(id: string): Promise<Job> {
    const { env, clock } = this.#options;
    const row = await env.write((tx) => {
      const row = tx.get(jobs, id);
      if (row === undefined) throw notFound(id);
      if (!isActive(row.status))
        throw new StewardError(
          "conflict",
          `the job ${id} is ${row.status} and cannot be cancelled`,
          { rule: "job state" },
        );
      const run = this.#runs.get(id)?.run;
      const cancelled = this.#end(tx, {
        ...row,
        ...run?.progress.state,
        ...resultFields(run?.cancelledResult()),
        status: "cancelled",
        completedAtMs: notBefore(row, clock.now()),
      });
      tx.after(() =>
        this.#runs
          .get(id)
          ?.run?.interrupt(new StewardError("cancelled", `the job ${id} was cancelled`)),
      );
      return cancelled;
    });
    return showRow(row);
  }

  get(id: string): Job | undefined {
    const row = this.#options.env.read((snapshot) => snapshot.get(jobs, id));
    return row === undefined ? undefined : this.#show(row);
  }

  list(query: JobQuery): Job[] {
    return this.#options.env.read((snapshot) => {
      const found: Job[] = [];
      for (const id of snapshot.find(jobs, "order", []).toReversed()) {
        if (found.length >= query.limit) break;
        const row = snapshot.get(jobs, id);
        if (row === undefined || (query.status !== undefined && row.status !== query.status))
          continue;
        if (query.types === undefined || query.types.includes(row.type))
          found.push(this.#show(row));
      }
      return found;
    });
  }

  active(exclusive: string): Job | undefined {
    return this.#options.env.read((snapshot) => {
      const id = snapshot.find(jobs, "active", [exclusive])[0];
      const row = id === undefined ? undefined : snapshot.get(jobs, id);
      return row === undefined ? undefined : this.#show(row);
    });
  }

  async *watch(id: string, signal: AbortSignal): AsyncIterable<JobEvent> {
    using watcher = this.#watchers.join(id);
    while (!signal.aborted) {
      const job = this.get(id);
      if (job === undefined) throw notFound(id);
      const active = isActive(job.status);
      yield { event: active ? "progress" : "complete", job };
      if (!active) return;
      if (this.#stopping.signal.aborted) return;
      await watcher.next(HEARTBEAT_MS, signal);
    }
  }

  async recover(): Promise<void> {
    const { env } = this.#options;
    const left = env.read((snapshot) =>
      snapshot.find(jobs, "active", []).flatMap((id) => snapshot.get(jobs, id) ?? []),
    );
    for (const row of left) {
      const type = this.#types.get(row.type);
      const reason = whyNotResumed(type, row);
      if (type !== undefined && reason === undefined) this.#launch(type, row);
      else await this.#finish(row.id, { status: "failed", error: reason ?? "" });
    }
  }

  async stop(deadlineMs: number): Promise<void> {
    const { clock, log } = this.#options;
    const reason = new StewardError("cancelled", "Steward is stopping");
    this.#stopping.abort(reason);
    for (const { run } of this.#runs.values()) run?.interrupt(reason);
    this.#watchers.wakeAll();
    const ended = Promise.allSettled(Array.from(this.#runs.values(), (entry) => entry.ended));
    await waitFor(ended, { clock, timeoutMs: deadlineMs });
    for (const id of this.#runs.keys())
      log.warn("a job did not stop in time; the next start resumes it", { job_id: id });
  }

  #launch(type: AnyJobType, row: JobRow): void {
    if (this.#stopping.signal.aborted) return;
    let run: JobRun | undefined;
    let unreadable: unknown;
    try {
      run = createJobRun(type, row, { ...this.#options, changed: (id) => this.#watchers.wake(id) });
    } catch (error) {
      unreadable = error;
    }
    const ended = (run === undefined ? this.#fail(row.id, unreadable) : this.#run(type, run))
      .catch((error: unknown) => {
        this.#options.log.error("cannot finish a job; the next start retries", {
          job_id: row.id,
          error,
        });
      })
      .finally(() => {
        run?.close();
        this.#runs.delete(row.id);
      });
    this.#runs.set(row.id, { run, ended });
  }

  async #run(type: AnyJobType, run: JobRun): Promise<void> {
    const { env, clock } = this.#options;
    const begun = await this.#persist(run.id, "cannot store the start of a job; retrying", (tx) => {
      const row = tx.get(jobs, run.id);
      if (row === undefined || !isActive(row.status)) return false;
      const running: JobRow = {
        ...row,
        status: "running",
        startedAtMs: row.startedAtMs ?? notBefore(row, clock.now()),
        attempts: row.attempts + 1,
      };
      tx.put(jobs, run.id, running);
      tx.after(() => this.#options.changed?.(showRow(running)));
      tx.after(() => this.#watchers.wake(run.id));
      return true;
    });
    if (!begun) return;
    try {
      run.context.signal.throwIfAborted();
      const result = await type.run(run.context);
      await this.#finish(run.id, {
        status: "completed",
        progress: 1,
        phaseProgress: undefined,
        message: run.progress.state.message,
        resultJson: JSON.stringify(result) ?? "null",
      });
    } catch (error) {
      if (run.context.signal.aborted && this.#stopping.signal.aborted) {
        await env.write((tx) => updateRunning(tx, run.id, { attempts: 0 }));
        return;
      }
      if (!run.context.signal.aborted) await this.#fail(run.id, error, run);
      await this.#keepResult(run);
    }
  }

  /** A cancelled run may have ended a step after the cancel. */
  async #keepResult(run: JobRun): Promise<void> {
    const fields = resultFields(run.cancelledResult());
    if (fields.resultJson === undefined) return;
    await this.#options.env.write((tx) => {
      const row = tx.get(jobs, run.id);
      if (row?.status === "cancelled") tx.put(jobs, run.id, this.#bounded({ ...row, ...fields }));
    });
  }

  async #fail(id: string, thrown: unknown, run?: JobRun): Promise<void> {
    const error = toStewardError(thrown);
    const logFailure = (): void => this.#options.log.error("a job failed", { job_id: id, error });
    const reached = run === undefined ? {} : run.progress.state;
    try {
      // Reported after it is stored: the job may have been cancelled meanwhile, and only the row is
      // authoritative.
      await this.#finish(id, { ...reached, status: "failed", error: error.message }, logFailure);
    } catch (unstored) {
      logFailure();
      throw unstored;
    }
  }

  // When the store cannot take the end of a job now, it is stored later; until then the job keeps
  // its status. A job cancelled first stays cancelled, and `ended` is not called.
  async #finish(id: string, fields: Partial<JobRow>, ended?: () => void): Promise<void> {
    await this.#persist(id, "cannot store the end of a job; retrying", (tx) => {
      const row = tx.get(jobs, id);
      if (row === undefined || !isActive(row.status)) return;
      if (ended !== undefined) tx.after(ended);
      this.#end(tx, {
        ...row,
        ...fields,
        completedAtMs: notBefore(row, this.#options.clock.now()),
      });
    });
  }

  /** Retries until the change is stored; logs each distinct reason once. */
  async #persist<T>(id: string, waiting: string, change: (tx: Tx) => T): Promise<T> {
    const { env, clock, log } = this.#options;
    for (let last = ""; ;) {
      try {
        return await env.write(change);
      } catch (error) {
        if (!isPassing(error)) throw error;
        if (error.message !== last) log.warn(waiting, { job_id: id, error });
        last = error.message;
        await delay(clock, RETRY_MS, this.#stopping.signal);
      }
    }
  }

  /** Returns the row as it is stored. */
  #end(tx: Tx, ended: JobRow): JobRow {
    // A run needs these to go on, nothing else reads them, and lists read many rows at once.
    const spent = { input: new Uint8Array(), cursor: undefined, notes: [] };
    const row = this.#bounded({ ...ended, ...spent });
    tx.put(jobs, row.id, row);
    for (const id of overdue(tx)) tx.delete(jobs, id);
    tx.after(() => this.#options.changed?.(showRow(row)));
    tx.after(() => this.#watchers.wake(row.id));
    return row;
  }

  /** Without a result that is too large to store: a job ends, whatever the size of its result. */
  #bounded(row: JobRow): JobRow {
    const sizeBytes = jobs.value.write(row).length;
    if (row.resultJson === undefined || sizeBytes <= MAX_ROW_BYTES) return row;
    this.#options.log.warn("the result of a job is too large to store; the job has none", {
      job_id: row.id,
      type: row.type,
      sizeBytes,
      limitBytes: MAX_ROW_BYTES,
    });
    const { resultJson: _result, ...rest } = row;
    return rest;
  }

  #show(row: JobRow): Job {
    const run = row.status === "running" ? this.#runs.get(row.id)?.run : undefined;
    return run === undefined ? showRow(row) : { ...showRow(row), ...run.progress.state };
  }

  #assertTaking(): void {
    if (this.#stopping.signal.aborted)
      throw new StewardError("not_ready", "Steward is stopping and starts no jobs");
  }
}

function resultFields(resultJson: string | undefined): { readonly resultJson?: string } {
  return resultJson === undefined ? {} : { resultJson };
}

/** With a wall clock set back, a job does not end before it began. */
function notBefore({ createdAtMs, startedAtMs = createdAtMs }: JobRow, nowMs: number): number {
  return Math.max(nowMs, startedAtMs, createdAtMs);
}

function whyNotResumed(type: AnyJobType | undefined, row: JobRow): string | undefined {
  if (type === undefined) return `this Steward does not know jobs of the kind ${row.type}`;
  if (type.onCrash === "fail") return "interrupted by a restart of Steward; start it again";
  if (row.attempts >= MAX_ATTEMPTS)
    return `given up: the process ended ${row.attempts} times while this job ran`;
  return undefined;
}

function isPassing(error: unknown): error is StewardError {
  return (
    error instanceof StewardError &&
    (error.code === "disk_full" || error.code === "exhausted" || error.code === "not_ready")
  );
}

function alreadyRunning(exclusive: string, id: string): StewardError {
  return new StewardError("already_running", `a job "${exclusive}" is already active: ${id}`, {
    rule: "one at a time",
    remedy: "wait for it or cancel it",
    facts: { jobId: id },
  });
}

function notFound(id: string): StewardError {
  return new StewardError("not_found", `there is no job ${JSON.stringify(id.slice(0, 40))}`, {
    field: "jobId",
  });
}
