import { expect, it } from "vitest";
import { createBreaker } from "../../../src/dedup/ai/breaker.ts";
import { failed } from "../../../src/dedup/ai/providers/failures.ts";
import type { ModelAnswer } from "../../../src/dedup/ai/providers/types.ts";

const ANSWER: ModelAnswer = { text: "{}", promptTokens: 1, completionTokens: 1, cachedTokens: 0 };
const timeout = failed("timeout", "too slow", "retry");

it("ends a run at the third equal failure in a row", () => {
  const breaker = createBreaker();
  expect(breaker.next(timeout)).toBeUndefined();
  expect(breaker.next(timeout)).toBeUndefined();
  expect(breaker.next(timeout)).toMatchObject({ code: "upstream", rule: "timeout" });
});

it.each([
  ["an answer", ANSWER],
  ["another failure", failed("provider_error", "the provider failed (500)", "retry")],
])("begins to count anew after %s", (_name, between) => {
  const breaker = createBreaker();
  for (const outcome of [timeout, timeout, between, timeout, timeout])
    expect(breaker.next(outcome)).toBeUndefined();
});

it.each(["refusal", "max_tokens", "rate_limit"] as const)(
  "lets a run go on after any number of documents with %s",
  (failure) => {
    const breaker = createBreaker();
    for (let number = 0; number < 10; number++)
      expect(breaker.next(failed(failure, "not this one", "retry"))).toBeUndefined();
  },
);

it("lets a run go on after documents whose requests are refused, up to fifty in a row", () => {
  const breaker = createBreaker();
  const refused = failed("provider_error", "refused (400)", "document");
  for (let number = 1; number < 50; number++) expect(breaker.next(refused)).toBeUndefined();
  expect(breaker.next(refused)).toMatchObject({ code: "upstream", rule: "provider_error" });
});

it("ends a run at once when no request can succeed", () => {
  const error = createBreaker().next(failed("rate_limit", "the quota is used up", "run"));
  expect(error).toMatchObject({ rule: "rate_limit" });
  expect(error?.message).toContain("the quota is used up");
});
