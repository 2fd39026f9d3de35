/** The shapes of CPU-heavy work on the Piscina pool (KERNEL §1.7). */

/** A pure function in `workers/`, declared as data: its file exports `run(input, control)`. */
export interface Task<I, O> {
  /** As messages and figures call it. */
  readonly name: string;
  readonly file: URL;
  /** Never set: carries the input and output types. */
  readonly types?: { readonly input: I; readonly output: O };
}

/** What a task function gets beside its input. */
export interface TaskControl {
  /**
   * True once the caller has gone; read it once per document or per thousand cheap steps and return
   * at once.
   */
  cancelled(): boolean;
  /** Adds to the units done, seen by the caller through `onProgress`. */
  step(units: number): void;
  /**
   * Moves a buffer with the result instead of copying it; the task must not touch it afterwards.
   */
  transfer(buffer: ArrayBuffer): void;
}

/** The options of one run. */
export interface RunOptions {
  readonly signal: AbortSignal;
  /**
   * Moved to the worker. An input that was moved is gone with a worker that dies, so such a run
   * gets no second try.
   */
  readonly transfer?: readonly ArrayBuffer[];
  /**
   * Workers that the input may cost before it fails, 2 unless it is one of a batch that is split
   * when its worker dies.
   */
  readonly tries?: 1 | 2;
  /** Units the task has done so far; called at most every 100 ms. */
  readonly onProgress?: (units: number) => void;
}

/** Figures of the pool. */
interface PoolStatus {
  readonly threads: number;
  readonly running: number;
  readonly queued: number;
  readonly limit: number;
  readonly crashed: number;
}

/** Typed tasks on worker threads. */
export interface Pool {
  /**
   * Rejects with the signal's reason as soon as it fires; a task that goes on for another 150 ms
   * loses its thread. Keeps the code of a task's error. `exhausted` when 2 × threads runs wait
   * already or the worker ran out of heap, `internal` when it died: of two workers, since a run is
   * tried again once, or of one with `tries: 1`.
   */
  run<I, O>(task: Task<I, O>, input: I, options: RunOptions): Promise<O>;
  /**
   * Results in input order; the source is asked only when a slot is free, so memory is bounded by
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
