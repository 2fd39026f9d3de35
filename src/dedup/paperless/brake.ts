/**
 * When a batch of writes leaves the rest alone. A refusal may concern its document alone, and the next
 * batch begins with the same documents: so few of them must not end it.
 */
import type { StewardError } from "../../kernel/base/errors.ts";
import type { FailureClass } from "../../kernel/client/failure.ts";

/** Failures of the archive as a whole in a row. */
const MAX_FAILURES = 3;
/** Refusals in a row: after so many the archive lets Steward write nothing. */
const MAX_REFUSALS = 50;

const REFUSALS: ReadonlySet<string> = new Set([
  "forbidden",
  "not_found",
  "rejected",
  "too_large",
] satisfies FailureClass[]);

export interface Brake {
  /** Takes the outcome of the next document: the archive's error, or undefined without one. */
  next(error: StewardError | undefined): void;
  /** Failures of the archive in a row. */
  readonly failures: number;
  readonly isOn: boolean;
}

/** `failures`: before a crash. */
export function createBrake(failures = 0): Brake {
  let refusals = 0;
  return {
    next(error) {
      const isRefusal = error !== undefined && REFUSALS.has(error.rule ?? "");
      refusals = error === undefined ? 0 : refusals + Number(isRefusal);
      failures = error === undefined || isRefusal ? 0 : failures + 1;
    },
    get failures() {
      return failures;
    },
    get isOn() {
      return failures >= MAX_FAILURES || refusals >= MAX_REFUSALS;
    },
  };
}
