/** Why a receiver refuses a request. */
import { toStewardError } from "../../kernel/base/errors.ts";

/** Thrown inside of the receivers and answered by them. */
export class Refusal<Reason extends string = string> extends Error {
  readonly status: number;
  /** Value of the attribute `reason`; undefined is not counted. */
  readonly reason: Reason | undefined;

  constructor(status: number, reason: Reason | undefined, message: string) {
    super(message);
    this.name = "Refusal";
    this.status = status;
    this.reason = reason;
  }
}

/** What a sender is told whose body the ingress log did not take. */
export function unstored(thrown: unknown): string {
  const { code, message } = toStewardError(thrown);
  return code === "exhausted" || code === "not_ready"
    ? `${message}; try again`
    : "the ingress log could not store the body; try again";
}
