/** Ends a run whose further requests cannot succeed either. */
import { StewardError } from "../../kernel/base/errors.ts";
import type { ModelAnswer, ModelFailure } from "./providers/types.ts";

/** Equal failures in a row that end a run. */
const MAX_EQUAL_FAILURES = 3;
/** The same where each may be due to its document: the next run may begin with the same ones. */
const MAX_EQUAL_REFUSALS = 50;

/**
 * Failures that depend on the document. A rate limit that reaches here does: the others' requests
 * passed meanwhile.
 */
const ofDocument: ReadonlySet<ModelFailure["failure"]> = new Set([
  "refusal",
  "max_tokens",
  "rate_limit",
]);

export interface Breaker {
  /** Takes the outcome of the next document; the error is why the run ends. */
  next(outcome: ModelAnswer | ModelFailure): StewardError | undefined;
}

export function createBreaker(): Breaker {
  let [last, count] = ["", 0];
  return {
    next(outcome) {
      if (!("failure" in outcome)) {
        [last, count] = ["", 0];
        return undefined;
      }
      const { failure, message, scope } = outcome;
      [last, count] = [message, last === message ? count + 1 : 1];
      const limit = scope === "document" ? MAX_EQUAL_REFUSALS : MAX_EQUAL_FAILURES;
      if (scope !== "run" && (ofDocument.has(failure) || count < limit)) return undefined;
      return new StewardError("upstream", `AI processing stopped: ${message}`, {
        rule: failure,
        remedy: "what was stored stays; correct the cause and start it again",
      });
    },
  };
}
