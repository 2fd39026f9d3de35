/** Types of durable background jobs. */
import type { Env, Tx, ValueCodec } from "../state/types.ts";

export type JobStatus = "pending" | "running" | "completed" | "failed" | "cancelled";

export interface JobType<I, R> {
  readonly type: string;
  readonly input: ValueCodec<I>;
  /**
   * What happens to a job interrupted by a crash: restarted from its cursor, or failed with the
   * reason.
   */
  readonly onCrash: "resume" | "fail";
  /** Share of each phase in the whole, in order; adds up to 1. */
  readonly phases: Readonly<Record<string, number>>;
  /** Two active jobs never share this name. */
  readonly exclusive: string;
  /** Returns the result, a JSON value. */
  run(job: JobContext<I>): Promise<R>;
}

export type AnyJobType = JobType<unknown, unknown>;

/** Context of a running job. */
export interface JobContext<I> {
  readonly id: string;
  readonly input: I;
  /** Fires when the job is cancelled or the process stops. */
  readonly signal: AbortSignal;
  /** Enters a phase. With `total` 0 or absent its inner progress is unknown. */
  phase(name: string, total?: number): { step(done: number, message?: string): void };
  /**
   * One transaction including the job's row: refused with `cancelled` unless the job is still
   * running.
   */
  commit(change: (tx: Tx) => void, cursor?: Uint8Array): Promise<void>;
  /** The cursor of the last commit before a crash. */
  resume(): Uint8Array | undefined;
  /** Called when the job is cancelled, and when its run has ended after that: the result to keep. */
  keepWhenCancelled(result: () => unknown): void;
  /** Counts a note; the first 1,000 are kept. */
  note(kind: string, item: string): void;
  /** Counts of notes by kind. */
  notes(): Readonly<Record<string, number>>;
}

/** A job as shown to watchers. Times are milliseconds since 1970. */
export interface Job {
  readonly id: string;
  readonly type: string;
  readonly status: JobStatus;
  readonly progress: number;
  readonly phaseProgress: number | undefined;
  readonly message: string;
  readonly createdAtMs: number;
  readonly startedAtMs: number | undefined;
  readonly completedAtMs: number | undefined;
  readonly error: string | undefined;
  readonly resultJson: string | undefined;
  readonly exclusive: string;
}

/** `complete` is the last event. */
export interface JobEvent {
  readonly event: "progress" | "complete";
  readonly job: Job;
}

export interface JobQuery {
  readonly types?: readonly string[];
  readonly status?: JobStatus;
  readonly limit: number;
}

/** The jobs of one environment. */
export interface Jobs {
  /**
   * Throws `already_running` naming the active job's id when one with the same `exclusive` is
   * pending or running.
   */
  start<I>(type: JobType<I, unknown>, input: I): Promise<Job>;
  /** Throws `not_found`, or `conflict` when the job has ended. */
  cancel(id: string): Promise<Job>;
  get(id: string): Job | undefined;
  /** Newest first. */
  list(query: JobQuery): Job[];
  active(exclusive: string): Job | undefined;
  /**
   * The current state at once, then every change, at least one event every 500 ms while running.
   */
  watch(id: string, signal: AbortSignal): AsyncIterable<JobEvent>;
  /** Resumes or fails jobs left by a crash; call once before the process is ready. */
  recover(): Promise<void>;
  /**
   * Interrupts running jobs so that the next start resumes or fails them; resolves when all have
   * stopped.
   */
  stop(deadlineMs: number): Promise<void>;
}

export interface JobsDeps {
  readonly env: Env;
}
