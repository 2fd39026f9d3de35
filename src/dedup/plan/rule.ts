/**
 * Which documents of duplicate groups may be deleted. The primary of every group of the plan stays,
 * and a document goes only when it has a verified pair with the primary of one of its groups: so
 * whatever goes has a near-duplicate that stays after the whole plan. Pure.
 */
import type { PairScores } from "../../../workers/verify/pair-verifier.ts";
import type { Steps } from "../groups/steps.ts";

/** What the rule needs to know of a document. Reasons continue "it …". */
export interface PlanDocument {
  /** Why it cannot be deleted; undefined for one that can. */
  readonly held?: string | undefined;
  /** Why no other document may be deleted for it; undefined when others may. */
  readonly unfit?: string | undefined;
  /** The file behind it, when the file has several names (hard links). */
  readonly file?: { readonly id: string; readonly names: number } | undefined;
}

/** A group whose members other than the primary are to go. */
export interface PlanGroup {
  readonly id: string;
  readonly primary: number;
  /** Document numbers, with the primary. */
  readonly members: readonly number[];
  /** Members whose text is another one than when the group was accepted. */
  readonly changed?: ReadonlySet<number> | undefined;
}

/** What a plan is made from. */
export interface PlanInput {
  /** In the order of preference: of equally good pairs that of the earlier group counts. */
  readonly groups: readonly PlanGroup[];
  /** Documents that stay whatever the groups say, e.g. primaries that a person chose elsewhere. */
  readonly stays?: ReadonlySet<number>;
  readonly document: (number: number) => PlanDocument;
  /** The scores of a verified pair; undefined for a pair that is none. Symmetric. */
  readonly scores: (a: number, b: number) => PairScores | undefined;
}

/** A document that goes, and the one that stays for it. */
export interface PlannedDocument {
  readonly document: number;
  readonly keep: number;
  readonly group: string;
  readonly scores: PairScores;
}

/** A member, not a primary, that stays although its group is in the plan. */
export interface RetainedDocument {
  readonly document: number;
  /** The first of its groups. */
  readonly group: string;
  /** Continues "it …". */
  readonly reason: string;
}

/** Both in the order in which the groups first name the documents. */
export interface PlannedDocuments {
  readonly go: readonly PlannedDocument[];
  readonly retained: readonly RetainedDocument[];
}

/** Members of a group between two yields. */
const STEP_MEMBERS = 500;

/**
 * The pairs whose scores a plan needs, of those that are open: each candidate with the primaries of
 * its groups, once.
 */
export function* pairSteps(
  { groups, stays, document }: Omit<PlanInput, "scores">,
  isOpen: (candidate: number, primary: number) => boolean,
): Steps<(readonly [candidate: number, primary: number])[]> {
  const staying = stayingDocuments(groups, stays);
  const seen = new Set<string>();
  const pairs: (readonly [number, number])[] = [];
  for (const { primary, members } of groups) {
    if (document(primary).unfit !== undefined) continue;
    for (const [at, member] of members.entries()) {
      if (at % STEP_MEMBERS === 0) yield;
      const key = `${member} ${primary}`;
      if (staying.has(member) || document(member).held !== undefined || seen.has(key)) continue;
      seen.add(key);
      if (isOpen(member, primary)) pairs.push([member, primary]);
    }
  }
  return pairs;
}

/** Decides what goes. */
export function* planSteps(input: PlanInput): Steps<PlannedDocuments> {
  const staying = stayingDocuments(input.groups, input.stays);
  const going = new Map<number, PlannedDocument>();
  const retained = new Map<number, RetainedDocument>();
  for (const group of input.groups)
    for (const [at, document] of group.members.entries()) {
      if (at % STEP_MEMBERS === 0) yield;
      if (document === group.primary) continue;
      const verdict = judge(document, group, staying, input);
      if (typeof verdict === "string") {
        if (!retained.has(document))
          retained.set(document, { document, group: group.id, reason: verdict });
      } else if (verdict.confidence > (going.get(document)?.scores.confidence ?? -1)) {
        going.set(document, { document, keep: group.primary, group: group.id, scores: verdict });
      }
    }
  for (const document of partlyGoing(going, input.document)) {
    const { group } = going.get(document) as PlannedDocument;
    going.delete(document);
    retained.set(document, { document, group, reason: "has another name (hard link) that stays" });
  }
  return {
    go: [...going.values()],
    retained: [...retained.values()].filter(({ document }) => !going.has(document)),
  };
}

function stayingDocuments(
  groups: readonly PlanGroup[],
  stays: ReadonlySet<number> = new Set(),
): ReadonlySet<number> {
  return new Set([...stays, ...groups.map(({ primary }) => primary)]);
}

/** The scores that let a member go by one of its groups, or why it stays. */
function judge(
  document: number,
  { primary, changed }: PlanGroup,
  staying: ReadonlySet<number>,
  input: PlanInput,
): PairScores | string {
  if (staying.has(document)) return "is to be kept by another group";
  if (changed?.has(document)) return "has another text than when its group was accepted";
  const { held } = input.document(document);
  if (held !== undefined) return held;
  if (changed?.has(primary))
    return "has a primary with another text than when the group was accepted";
  const { unfit } = input.document(primary);
  if (unfit !== undefined) return `has a primary that ${unfit}`;
  const scores = input.scores(document, primary);
  return scores === undefined || Number.isNaN(scores.confidence)
    ? "has no verified pair with the document that stays"
    : scores;
}

/** Documents that would go while another name of their file stays, here or elsewhere. */
function partlyGoing(
  going: ReadonlyMap<number, PlannedDocument>,
  documentOf: PlanInput["document"],
): number[] {
  const byFile = new Map<string, { readonly names: number; readonly documents: number[] }>();
  for (const document of going.keys()) {
    const { file } = documentOf(document);
    if (file === undefined) continue;
    const known = byFile.get(file.id);
    if (known) known.documents.push(document);
    else byFile.set(file.id, { names: file.names, documents: [document] });
  }
  return [...byFile.values()].flatMap(({ names, documents }) =>
    documents.length < names ? documents : [],
  );
}
