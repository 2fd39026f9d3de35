/** Ends a run whose further requests cannot succeed either. */
import { StewardError } from "../../kernel/base/errors.ts";
import type { ModelAnswer, ModelFailure } from "./providers/types.ts";

/** Equal failures in a row that end a run. */
const MAX_EQUAL_FAILURES = 3;

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
      if (scope !== "run" && (ofDocument.has(failure) || count < MAX_EQUAL_FAILURES))
        return undefined;
      return new StewardError("upstream", `AI processing stopped: ${message}`, {
        rule: failure,
        remedy: "what was stored stays; correct the cause and start it again",
      });
    },
  };
}
