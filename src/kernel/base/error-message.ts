/** Serialises errors between threads as data, since a cloned error would lose its code. */
import { StewardError, toStewardError, type Code, type Detail } from "./errors.ts";

export interface ErrorMessage {
  readonly code: Code;
  readonly message: string;
  readonly field: string | undefined;
  readonly rule: string | undefined;
  readonly remedy: string | undefined;
  readonly details: readonly Detail[] | undefined;
  readonly facts: unknown;
  readonly retryAfterMs: number | undefined;
  /** For the operator's log only. */
  readonly stack: string | undefined;
}

const codes: Readonly<Record<Code, true>> = {
  invalid: true,
  unauthenticated: true,
  denied: true,
  not_found: true,
  conflict: true,
  already_running: true,
  too_large: true,
  exhausted: true,
  not_ready: true,
  sealed: true,
  upstream: true,
  unsupported: true,
  cancelled: true,
  deadline: true,
  disk_full: true,
  corrupt: true,
  internal: true,
};

/**
 * Serialises anything thrown. Worker tasks do not know StewardError: their errors have a `code`
 * property.
 */
export function writeError(thrown: unknown): ErrorMessage {
  const { code, message, field, rule, remedy, details, facts, retryAfterMs, cause } = hasCode(
    thrown,
  )
    ? thrown
    : toStewardError(thrown);
  const origin = cause instanceof Error ? cause : thrown;
  return {
    code,
    message,
    field,
    rule,
    remedy,
    details,
    facts,
    retryAfterMs,
    stack: origin instanceof Error ? origin.stack : undefined,
  };
}

/**
 * The error for the caller; its cause, which never leaves the process, names where it was thrown,
 * e.g. `thread monitor`.
 */
export function readError(where: string, error: ErrorMessage): StewardError {
  const { field, rule, remedy, details, facts, retryAfterMs } = error;
  return new StewardError(error.code, error.message, {
    ...(field === undefined ? {} : { field }),
    ...(rule === undefined ? {} : { rule }),
    ...(remedy === undefined ? {} : { remedy }),
    ...(details === undefined ? {} : { details }),
    ...(facts === undefined ? {} : { facts }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    cause: new Error(`${where}: ${error.stack ?? error.message}`),
  });
}

function hasCode(thrown: unknown): thrown is StewardError {
  return (
    thrown instanceof Error &&
    "code" in thrown &&
    typeof thrown.code === "string" &&
    Object.hasOwn(codes, thrown.code)
  );
}
