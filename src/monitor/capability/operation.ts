/** Operations of the control APIs, and what a call's outcome says about permissions. */
import { toStewardError } from "../../kernel/base/errors.ts";
import { failureOf } from "../../kernel/client/failure.ts";

/** Outcome of an operation's last call. */
export type ApiState =
  | "unknown"
  | "disabled"
  | "supported"
  | "transient_failure"
  | "request_rejected"
  | "scope_denied"
  | "credential_rejected";

/** From least to most serious; several operations combine to the most serious. */
export const apiStates: readonly ApiState[] = [
  "unknown",
  "disabled",
  "supported",
  "transient_failure",
  "request_rejected",
  "scope_denied",
  "credential_rejected",
];

export interface Operation {
  /** Value of `vpn.api.operation`. */
  readonly name: string;
  /** Statuses besides 404 that mean the feature is off. */
  readonly disabledBy: readonly number[];
}

/** `disabledBy`: statuses besides 404 that mean the feature is off. */
export function defineOperation(name: string, disabledBy: readonly number[] = []): Operation {
  return { name, disabledBy };
}

/** The state for a failed call. Failures without a reply are transient; a cancelled call is `unknown`. */
export function stateOfError(
  error: unknown,
  { disabledBy }: Pick<Operation, "disabledBy">,
): ApiState {
  const failure = failureOf(error);
  const status = failure?.status ?? 0;
  if (
    failure?.class === "cancelled" ||
    (failure === undefined && toStewardError(error).code === "cancelled")
  )
    return "unknown";
  if (status === 404 || disabledBy.includes(status)) return "disabled";
  if (failure?.class === "auth" || status === 401) return "credential_rejected";
  if (status === 403) return "scope_denied";
  if (status >= 400 && status < 500 && status !== 429) return "request_rejected";
  return "transient_failure";
}
