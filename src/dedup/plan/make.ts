/** Makes the delete plan of a run: looks the files up, verifies the pairs, applies the rule. */
import { GroupStatus } from "../../gen/steward/dedup/v1/groups_pb.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import type { PairScores } from "../../../workers/verify/pair-verifier.ts";
import type { AnalysisParameters } from "../analysis/parameters.ts";
import { mapInOrder } from "../archives/ordered.ts";
import type { Corpus } from "../corpus.ts";
import type { Decisions, ReviewedGroup } from "../review/decisions.ts";
import { runInSlices } from "../groups/steps.ts";
import { createRejections } from "../review/rejections.ts";
import { createDeletePlan } from "./plan-file.ts";
import type { DeletePlan, PlanEntry, PlanFile, PlanScores } from "./plan-file.ts";
import { readPlanFile } from "./plan-files.ts";
import type { PlanFileOfDocument } from "./plan-files.ts";
import { pairSteps, planSteps } from "./rule.ts";
import type { PlanGroup, PlannedDocument } from "./rule.ts";
import { scorePairs } from "./score-pairs.ts";

/** Files read at the same time. */
const FILES_AT_ONCE = 4;

export interface MakePlanInput {
  readonly groups: readonly ReviewedGroup[];
  /** Only groups that were accepted, or all but those that were decided otherwise. */
  readonly which: DeletePlan["groups"];
  /** What was decided before; undefined without a state folder. */
  readonly decisions: Pick<Decisions, "rejections" | "chosenPrimaries"> | undefined;
  readonly corpus: Pick<Corpus, "document" | "source" | "text" | "textHash">;
  readonly parameters: AnalysisParameters;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Rejects with the signal's reason. */
export async function makeDeletePlan(input: MakePlanInput): Promise<DeletePlan> {
  const { corpus, signal, clock } = input;
  const groups = input.groups.filter((group) => isPlanned(group, input.which)).map(planGroup);
  const files = await readFiles(groups, input);
  const documentOf = (number: number): PlanFileOfDocument =>
    files.get(number) ?? { path: "", held: "was not read" };
  const rule = {
    groups,
    stays: input.decisions?.chosenPrimaries() ?? new Set<number>(),
    document: documentOf,
  };
  const rejected = createRejections(input.decisions?.rejections ?? []);
  const pairs = await runInSlices(
    pairSteps(rule, (a, b) => !rejected(a, b)),
    input,
  );
  const scores = await scorePairs({ ...input, ...corpus, pairs, signal });
  const verified = new Map(pairs.map((pair, at) => [pair.join(), scores[at]]));
  const plan = planSteps({ ...rule, scores: (a, b) => verified.get([a, b].join()) });
  const { go, retained } = await runInSlices(plan, input);
  return createDeletePlan({
    createdAt: new Date(clock.now()).toISOString(),
    groups: input.which,
    parameters: { ...input.parameters },
    entries: go.map((planned) => entryOf(planned, documentOf)),
    retained: retained.map(({ document, group, reason }) => ({
      id: corpus.document(document).ref,
      group,
      reason,
    })),
  });
}

function isPlanned({ accepted, status }: ReviewedGroup, which: DeletePlan["groups"]): boolean {
  return which === "accepted" ? accepted : status === GroupStatus.PENDING;
}

function planGroup({ group, changed }: ReviewedGroup): PlanGroup {
  const primary = group.members.find((member) => member.primary)?.number ?? -1;
  return { id: group.id, primary, members: group.found.members, changed };
}

/** The files of all documents of the groups, each read once. */
async function readFiles(
  groups: readonly PlanGroup[],
  { corpus, signal }: MakePlanInput,
): Promise<ReadonlyMap<number, PlanFileOfDocument>> {
  const numbers = new Set(groups.flatMap(({ members }) => members));
  const files = new Map<number, PlanFileOfDocument>();
  const read = mapInOrder(numbers, FILES_AT_ONCE, async (number) => {
    const truncated = corpus.document(number).truncated === true;
    return [
      number,
      await readPlanFile({ source: corpus.source(number), truncated }, signal),
    ] as const;
  });
  for await (const [number, file] of read) files.set(number, file);
  return files;
}

/** The file of a document that goes, as the plan records it. */
export function entryOf(
  { document, keep, group, scores }: PlannedDocument,
  documentOf: (number: number) => PlanFileOfDocument,
): PlanEntry {
  return {
    ...fileOf(documentOf(document)),
    group,
    keep: fileOf(documentOf(keep)),
    scores: scoresOf(scores),
  };
}

function fileOf({ path, state }: PlanFileOfDocument): PlanFile {
  return { path, sizeBytes: state?.sizeBytes ?? 0, sha256: state?.sha256 ?? "" };
}

function scoresOf({ confidence, jaccard, fuzzy, discriminative }: PairScores): PlanScores {
  const known = (score: number): number | null => (Number.isNaN(score) ? null : score);
  return {
    confidence,
    jaccard: known(jaccard),
    fuzzy: known(fuzzy),
    discriminative: known(discriminative),
  };
}
