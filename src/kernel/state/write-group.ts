/** Changes on their way to the disk: in line, run, and stored together. */
import type { StewardError } from "../base/errors.ts";
import type { FileTx } from "./transaction.ts";
import type { Write } from "./unstored.ts";

/** A change in line. */
export interface Pending {
  readonly urgent: boolean;
  readonly guard: (() => void) | undefined;
  readonly run: (tx: FileTx) => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Ran before, in a group that the full disk did not take. */
  again?: boolean;
}

/** A change that ran. */
export interface Done {
  readonly pending: Pending;
  readonly value: unknown;
  readonly effects: (() => void)[];
}

/** Changes that ran and are stored together. */
export interface Group {
  readonly done: Done[];
  readonly writes: Write[];
  /** Rows of the tables whose count they changed. */
  readonly rows: Map<string, number>;
  bytes: number;
  /** What running them took of the main thread. */
  ranMs: number;
  /** Why the file takes deletions only; looked at once for each group. */
  readonly full: StewardError | undefined;
}

/** Whether a change that ran may be stored now; one without a guard may. */
export function holds(guard: (() => void) | undefined): boolean {
  try {
    guard?.();
    return true;
  } catch {
    return false; // the group is refused, and its change with it
  }
}
