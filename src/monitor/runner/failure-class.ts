/** Why a run failed, in the three words of `svc.scrape.errors`. */
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";

/** `panic` is a mistake of ours, `timeout` any deadline that passed, `error` everything else. */
export type FailureWord = "panic" | "timeout" | "error";

/** The word for what a run threw. */
export function failureWord(thrown: unknown): FailureWord {
  const error = toStewardError(thrown);
  if (error.code === "internal") return "panic";
  for (let cause: unknown = error; cause instanceof StewardError; cause = cause.cause)
    if (cause.code === "deadline") return "timeout";
  return "error";
}
