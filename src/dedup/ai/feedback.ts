/** What reviewers thought of results: stored one by one, summarised over all. */
import { create } from "@bufbuild/protobuf";
import { AiFeedbackAction } from "../../gen/steward/dedup/v1/ai_pb.ts";
import { AiFeedbackRowSchema } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { Env, Tx } from "../../kernel/state/types.ts";
import { metaNumber, setMetaNumber } from "../meta.ts";
import { aiFeedback } from "../tables.ts";

const actions = {
  rejected: AiFeedbackAction.REJECTED,
  corrected: AiFeedbackAction.CORRECTED,
  partial_applied: AiFeedbackAction.PARTIAL_APPLIED,
} as const;

export interface Correction {
  readonly field: string;
  readonly suggested: string;
  readonly corrected: string;
}

export interface Feedback {
  readonly resultId: string;
  readonly action: keyof typeof actions;
  readonly rejectedFields?: readonly string[];
  readonly corrections?: readonly Correction[];
  readonly reason?: string;
  readonly atMs: number;
}

export function addFeedback(tx: Tx, feedback: Feedback): void {
  const serial = metaNumber(tx, "nextFeedback") ?? 1;
  setMetaNumber(tx, "nextFeedback", serial + 1);
  tx.put(
    aiFeedback,
    serial,
    create(AiFeedbackRowSchema, {
      resultId: feedback.resultId,
      action: actions[feedback.action],
      rejectedFields: [...(feedback.rejectedFields ?? [])],
      corrections: [...(feedback.corrections ?? [])],
      reason: feedback.reason ?? "",
      createdAtMs: feedback.atMs,
    }),
  );
}

export interface FeedbackSummary {
  readonly totalFeedback: number;
  readonly rejections: number;
  readonly corrections: number;
  readonly partialApplied: number;
  readonly topRejectedFields: { readonly field: string; readonly count: number }[];
  readonly topCorrectionPatterns: {
    readonly field: string;
    readonly suggestedValue: string;
    readonly correctedValue: string;
    readonly count: number;
  }[];
}

const TOP = 20;

/** Reads all feedback in slices. */
export async function summariseFeedback(env: Env, signal: AbortSignal): Promise<FeedbackSummary> {
  const byAction = new Map<number, number>();
  const fields = new Map<string, number>();
  const patterns = new Map<string, number>();
  const count = <K>(counts: Map<K, number>, key: K): void =>
    void counts.set(key, (counts.get(key) ?? 0) + 1);
  await env.scan(
    aiFeedback,
    (batch) => {
      for (const [, { action, rejectedFields, corrections }] of batch) {
        count(byAction, action);
        for (const field of rejectedFields) count(fields, field);
        for (const { field, suggested, corrected } of corrections)
          count(patterns, JSON.stringify([field, suggested, corrected]));
      }
    },
    { sliceMs: 5, signal },
  );
  return {
    totalFeedback: [...byAction.values()].reduce((sum, many) => sum + many, 0),
    rejections: byAction.get(AiFeedbackAction.REJECTED) ?? 0,
    corrections: byAction.get(AiFeedbackAction.CORRECTED) ?? 0,
    partialApplied: byAction.get(AiFeedbackAction.PARTIAL_APPLIED) ?? 0,
    topRejectedFields: top(fields).map(([field, many]) => ({ field, count: many })),
    topCorrectionPatterns: top(patterns).map(([key, many]) => {
      const [field = "", suggestedValue = "", correctedValue = ""] = JSON.parse(key) as string[];
      return { field, suggestedValue, correctedValue, count: many };
    }),
  };
}

function top(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].sort((left, right) => right[1] - left[1]).slice(0, TOP);
}
