/** Types of CPU-heavy work on the Piscina pool. */

/** A pure function in `workers/`, declared as data: its file exports `run(input, control)`. */
export interface Task<I, O> {
  /** Used in messages and metrics. */
  readonly name: string;
  readonly file: URL;
  /** Never set: carries the input and output types. */
  readonly types?: { readonly input: I; readonly output: O };
}

/** Passed to a task function beside its input. */
export interface TaskControl {
  /**
   * True once the caller has cancelled; check it once per document or per thousand cheap steps and
   * return at once.
   */
  cancelled(): boolean;
  /** Adds to the units done, reported to the caller through `onProgress`. */
  step(units: number): void;
  /** Moves a buffer with the result instead of copying it; do not use it afterwards. */
  transfer(buffer: ArrayBuffer): void;
}

export interface RunOptions {
  readonly signal: AbortSignal;
  /**
   * Moved to the worker. A moved input is lost when its worker dies, so such a run is not retried.
   */
  readonly transfer?: readonly ArrayBuffer[];
  /**
   * How many workers may die on the input before it fails: 2 by default, 1 for a batch that is
   * split when its worker dies.
   */
  readonly tries?: 1 | 2;
  /**
   * How long the task may run, from when it has a thread; time in the queue does not count. Past
   * it the run rejects with `deadline` and the task is cancelled. Default: no limit.
   */
  readonly deadlineMs?: number;
  /**
   * Run it in a worker process instead of a thread: for input that may end its process, as V8 does
   * when one allocation exceeds the heap limit. The input is copied, and there is no progress.
   */
  readonly ownProcess?: boolean;
  /** Units done so far; called at most every 100 ms. */
  readonly onProgress?: (units: number) => void;
}

interface PoolStatus {
  readonly threads: number;
  readonly running: number;
  readonly queued: number;
  readonly limit: number;
  readonly crashed: number;
}

/** Typed tasks on worker threads and in worker processes, so many at a time together. */
export interface Pool {
  /**
   * Rejects with the signal's reason as soon as it fires; a task that continues for another 150 ms
   * loses its thread, and a process is killed at once. Keeps the code of a task's error. `exhausted`
   * when 2 × threads runs are already queued or the worker ran out of heap, `internal` when the
   * worker died: two workers, since a run is retried once, or one with `tries: 1`; `not_ready` when
   * no process can be made.
   */
  run<I, O>(task: Task<I, O>, input: I, options: RunOptions): Promise<O>;
  /**
   * Results in input order; reads the source only when a slot is free, so memory is bounded by
   * `inFlight`.
   */
  map<I, O>(
    task: Task<I, O>,
    inputs: Iterable<I> | AsyncIterable<I>,
    options: RunOptions & { readonly inFlight?: number },
  ): AsyncIterable<O>;
  status(): PoolStatus;
  close(): Promise<void>;
}
