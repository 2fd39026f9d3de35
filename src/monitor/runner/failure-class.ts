/** Classifies failed runs for `svc.scrape.errors`. */
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";

/** `panic` is a bug in Steward, `timeout` any expired deadline, `error` everything else. */
export type FailureWord = "panic" | "timeout" | "error";

export function failureWord(thrown: unknown): FailureWord {
  const error = toStewardError(thrown);
  if (error.code === "internal") return "panic";
  for (let cause: unknown = error; cause instanceof StewardError; cause = cause.cause)
    if (cause.code === "deadline") return "timeout";
  return "error";
}
