/**
 * What a task sees of its caller, and how a task is declared: the shapes of the pool, which this
 * folder may not import.
 */

/** What a task function gets beside its input. */
export interface TaskControl {
  /** True once the caller has gone; read once per document or per thousand cheap steps. */
  cancelled(): boolean;
  /** Adds to the units done. */
  step(units: number): void;
  /** Moves a buffer with the result instead of copying it. */
  transfer(buffer: ArrayBuffer): void;
}

/** A task as data: its file exports `run(input, control)`. */
export interface TaskRow<I, O> {
  readonly name: string;
  readonly file: URL;
  /** Never set: carries the input and output types. */
  readonly types?: { readonly input: I; readonly output: O };
}

/** Thrown after cancellation; handled by the pool. */
export function stopped(): Error {
  return Object.assign(new Error("the caller has gone"), { code: "cancelled" });
}
