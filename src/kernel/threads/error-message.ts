/** Errors on their way between threads: as data, since a thrown one would lose its code. */
import { StewardError, toStewardError, type Code, type Detail } from "../base/errors.ts";

/** An error as data. */
export interface ErrorMessage {
  readonly code: Code;
  readonly message: string;
  readonly field: string | undefined;
  readonly rule: string | undefined;
  readonly remedy: string | undefined;
  readonly details: readonly Detail[] | undefined;
  readonly facts: unknown;
  readonly retryAfterMs: number | undefined;
  /** For the log of the operator only. */
  readonly stack: string | undefined;
}

/** Any thrown thing as data. */
export function writeError(thrown: unknown): ErrorMessage {
  const { code, message, field, rule, remedy, details, facts, retryAfterMs, cause } = toStewardError(thrown);
  const origin = cause instanceof Error ? cause : thrown;
  return { code, message, field, rule, remedy, details, facts, retryAfterMs, stack: origin instanceof Error ? origin.stack : undefined };
}

/** The error the caller sees; where it was thrown is its cause, which never leaves the process. */
export function readError(thread: string, error: ErrorMessage): StewardError {
  const { field, rule, remedy, details, facts, retryAfterMs } = error;
  return new StewardError(error.code, error.message, {
    ...(field === undefined ? {} : { field }), ...(rule === undefined ? {} : { rule }), ...(remedy === undefined ? {} : { remedy }),
    ...(details === undefined ? {} : { details }), ...(facts === undefined ? {} : { facts }), ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    cause: new Error(`thread ${thread}: ${error.stack ?? error.message}`),
  });
}
