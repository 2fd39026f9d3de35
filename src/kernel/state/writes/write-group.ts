/** Types of changes on their way to the disk: queued, run, and stored as a group. */
import type { StewardError } from "../../base/errors.ts";
import type { FileTx } from "./transaction.ts";
import type { Write } from "./unstored.ts";

/** A queued change. */
export interface Pending {
  readonly urgent: boolean;
  readonly guard: (() => void) | undefined;
  readonly run: (tx: FileTx) => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Ran before, in a group that failed because the disk was full. */
  again?: boolean;
}

/** A change that ran, or threw and left nothing. */
export interface Done {
  readonly pending: Pending;
  readonly refused: boolean;
  /** Tells the caller, once the group is stored. */
  readonly end: () => void;
  readonly effects: (() => void)[];
}

/** Changes that ran and are stored together. */
export interface Group {
  readonly done: Done[];
  readonly writes: Write[];
  /** New row counts of the changed tables. */
  readonly rows: Map<string, number>;
  bytes: number;
  /** Main thread time spent running them. */
  ranMs: number;
  /** Why the file accepts deletions and urgent changes only; checked once per group. */
  readonly full: StewardError | undefined;
}

/** A group is full when it reaches one of these; further changes wait for its flush. */
const GROUP_BYTES = 2 ** 20;
const GROUP_CHANGES = 10_000;
/** Includes removals, which have no bytes. */
const GROUP_WRITES = 10_000;

/** Whether it takes no more changes. */
export function isFull({ bytes, done, writes }: Group): boolean {
  return bytes >= GROUP_BYTES || done.length >= GROUP_CHANGES || writes.length >= GROUP_WRITES;
}

/** Whether a change that ran may be stored now; always true without a guard. */
export function holds(guard: (() => void) | undefined): boolean {
  try {
    guard?.();
    return true;
  } catch {
    return false; // the group is refused, and its change with it
  }
}
