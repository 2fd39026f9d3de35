/** The shapes of CPU-heavy work on the Piscina pool (KERNEL §1.7). */

/** A pure function in `workers/`, declared as data: the file and the export that runs. */
export interface Task<I, O> {
  readonly name: string;
  readonly file: URL;
  /** Never set: carries the input and output types. */
  readonly types?: { readonly input: I; readonly output: O };
}

/** What a task function gets beside its input. */
export interface TaskControl {
  /** True once the caller has gone; read it once per document or per thousand cheap steps and return at once. */
  cancelled(): boolean;
  /** Adds to the units done, seen by the caller through `onProgress`. */
  step(units: number): void;
}

/** The options of one run. */
export interface RunOptions {
  readonly signal: AbortSignal;
  readonly transfer?: readonly ArrayBuffer[];
  /** Units the task has done so far; called at most every 100 ms. */
  readonly onProgress?: (units: number) => void;
}

/** Figures of the pool. */
export interface PoolStatus {
  readonly threads: number;
  readonly running: number;
  readonly queued: number;
  readonly limit: number;
  readonly crashed: number;
}

/** Typed tasks on worker threads. */
export interface Pool {
  /** Rejects with the signal's reason within 250 ms of it firing, whatever the task does. */
  run<I, O>(task: Task<I, O>, input: I, options: RunOptions): Promise<O>;
  /** Results in input order; the source is asked only when a slot is free, so memory is bounded by `inFlight`. */
  map<I, O>(task: Task<I, O>, inputs: Iterable<I> | AsyncIterable<I>, options: RunOptions & { readonly inFlight?: number }): AsyncIterable<O>;
  status(): PoolStatus;
  close(): Promise<void>;
}
