/**
 * What a cycle of `-preflight`, `-once` or `-exposition-check` came to, and the exit code of that.
 */
import { StewardError } from "../../kernel/base/errors.ts";
import { describeFailure, failureOf } from "../../kernel/client/failure.ts";
import type { ExpositionReport } from "../../kernel/telemetry/exposition/check.ts";
import type { DeniedCall } from "../../monitor/cycle/cycle.ts";
import type { CollectorResult } from "../../monitor/runner/cycle.ts";
import type { CycleArguments } from "./arguments.ts";

export interface CycleOutcome {
  readonly requested: Pick<CycleArguments, "mode" | "timeoutMs">;
  /** In the order of networks and collectors. */
  readonly results: readonly CollectorResult[];
  /** What collectors had to go without; no failure. */
  readonly denied?: readonly DeniedCall[];
  /** Why it could not begin; then no request was made. */
  readonly refused?: string;
  /** Why no request was made although nothing is wrong. */
  readonly idle?: string;
  /** Whether anything was sent to a receiver. */
  readonly exportAttempted: boolean;
  /** Standard output belongs to what was exported. */
  readonly exportsToOutput?: boolean;
  /** What was not delivered. */
  readonly closeError?: string;
  /** Policy validation was skipped, since it would have sent the policy. */
  readonly aclValidateSkipped: boolean;
  /** Of `-exposition-check`. */
  readonly exposition?: ExpositionReport;
}

/**
 * 1 it could not begin, 3 a credential was refused, 4 something was not collected, 5 something was
 * not exported or not exposed as it must be; the lowest wins.
 */
export function exitCode({
  refused,
  results,
  closeError,
  exposition,
}: CycleOutcome): 0 | 1 | 3 | 4 | 5 {
  if (refused !== undefined) return 1;
  if (results.some(({ error }) => isAuthFailure(error))) return 3;
  if (results.some(({ error }) => error !== undefined)) return 4;
  return closeError !== undefined || (exposition?.errors.length ?? 0) > 0 ? 5 : 0;
}

/** Whether the error means that the credential is rejected; a missing permission does not. */
export function isAuthFailure(error: unknown): boolean {
  for (let cause: unknown = error; cause instanceof StewardError; cause = cause.cause)
    if (failureOf(cause)?.class === "auth") return true;
  return false;
}

/** An error with its address and what helps. */
export function textOfError(error: StewardError): string {
  const { remedy } = error;
  const message = describeFailure(error);
  return remedy === undefined || message.includes(remedy) ? message : `${message}; ${remedy}`;
}
