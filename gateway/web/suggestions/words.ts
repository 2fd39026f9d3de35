/** How pages name a suggestion's state, its failure, a confidence and a sum of money. */
import { formatPercent } from "../format.ts";
import type { AiResult } from "../../../src/gen/dedup-json.ts";
import type { State } from "../pieces/state.ts";
import type { Status } from "./filters.ts";

const STATUS: Readonly<Record<Status, readonly [State, string]>> = {
  pending: ["notice", "to review"],
  applied: ["good", "applied"],
  partial: ["good", "applied in part"],
  rejected: ["unknown", "rejected"],
  reverted: ["unknown", "reverted"],
  failed: ["bad", "failed"],
};

/** State and word. */
export function statusOf({
  appliedStatus,
}: Pick<AiResult, "appliedStatus">): readonly [State, string] {
  return STATUS[appliedStatus];
}

const FAILURES: Readonly<Record<string, string>> = {
  refusal: "The model refused to answer.",
  schema_mismatch: "The answer was not of the expected form.",
  timeout: "The provider did not answer in time.",
  max_tokens: "The answer was cut off.",
  rate_limit: "The provider's rate limit was reached.",
  provider_error: "The provider failed.",
  no_suggestions: "The model suggests nothing.",
  no_content: "The document has no text.",
  document_not_found: "The document is gone.",
};

/** A sentence; empty for a result that is not failed. */
export function failureOf({ failureType }: Pick<AiResult, "failureType">): string {
  return failureType === null ? "" : (FAILURES[failureType] ?? `It failed: ${failureType}.`);
}

/** The mean of what was suggested; undefined where nothing was. */
export function meanConfidence({ confidence }: Pick<AiResult, "confidence">): number | undefined {
  if (confidence === null) return undefined;
  const { correspondent, documentType, tags } = confidence;
  return (correspondent + documentType + tags) / 3;
}

export function formatConfidence(confidence: number | undefined): string {
  return confidence === undefined ? "–" : formatPercent(confidence);
}

/** `$0.0237`, `$12.30`: four digits below ten cents, since a document costs less than one. */
export function formatUsd(usd: number): string {
  return `$${usd.toFixed(usd !== 0 && usd < 0.1 ? 4 : 2)}`;
}
