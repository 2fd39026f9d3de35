/** The access policy as the answer of `QueryFlows` shows it. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { FlowPolicySchema } from "../../gen/steward/monitor/v1/flows_pb.ts";
import type { PolicyRule } from "../policy/compile.ts";
import type { FlowStore } from "./flow-store.ts";
import type { Counts, SumEntry } from "./sums.ts";

interface Exercised {
  readonly version: string;
  readonly index: number;
  readonly counts: Counts;
}

/** By version, then by index. What exceeded the limit of a minute has no rule. */
export function exercisedRules(entries: readonly SumEntry[]): readonly Exercised[] {
  return entries
    .map(({ names: [version = "", index = ""], first }) => ({
      version,
      index: Number(index),
      counts: first,
    }))
    .filter(({ index }) => !Number.isNaN(index))
    .toSorted(
      (left, right) =>
        Number(left.version > right.version) - Number(left.version < right.version) ||
        left.index - right.index,
    );
}

/** Of one network; several have no policy in common. */
export function policyOf(stores: readonly FlowStore[]): {
  readonly policy: MessageInitShape<typeof FlowPolicySchema>;
  readonly ruleAt: (version: string, index: number) => PolicyRule | undefined;
} {
  const [only, ...others] = stores;
  const shown = others.length === 0 ? only?.policy : undefined;
  const rules = shown?.rulesOf(shown.version);
  return {
    policy: {
      available: rules !== undefined,
      version: shown?.version ?? "",
      error: shown?.error ?? "",
      rules: (rules ?? []).map((rule) => ({ ...rule })),
    },
    ruleAt: (version, index) =>
      stores
        .map(({ policy }) => policy.rulesOf(version)?.[index])
        .find((rule) => rule !== undefined),
  };
}
