/**
 * What an analysis says about documents, apart from where they are kept: which distinct texts there
 * are to compare, and the groups that follow from the verified pairs. Used by the analysis job and
 * by `steward dedup`.
 */
import type { Clock } from "../../kernel/base/clock.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import { describeGroups } from "../groups/describe.ts";
import type { FoundGroup } from "../groups/graph.ts";
import { groupSteps } from "../groups/graph.ts";
import { newGroupId } from "../groups/identity.ts";
import type { PrimaryCandidate } from "../groups/primary.ts";
import type { Steps } from "../groups/steps.ts";
import { createPause, runInSlices } from "../groups/steps.ts";
import { compareText } from "../groups/vertices.ts";
import type { AnalysisOutcome } from "./engine.ts";
import { createHashTable } from "./hash-table.ts";
import type { AnalysisParameters } from "./parameters.ts";

/** What decides whether and with whom a document is compared. */
interface DigestedDocument {
  /** SHA-256 of the normalised text; empty without content. */
  readonly hash: Uint8Array;
  readonly wordCount: number;
}

/** A distinct text and the documents that have it, by number. */
export interface TextClass {
  readonly hash: Uint8Array;
  readonly wordCount: number;
  readonly documents: number[];
}

/** Documents that cannot be compared, by reason. */
export interface SkipReasons {
  noContent: number;
  /** Fewer words than `minWords`. */
  tooShort: number;
  /** Fewer words than a phrase has. */
  shinglesFailed: number;
}

/** Sorts documents into texts, one at a time. */
export interface Classifier {
  /** The text that the document has, or why it is left out. */
  add(document: number, digested: DigestedDocument): TextClass | keyof SkipReasons;
  /** In the order in which their first document came. */
  readonly classes: readonly TextClass[];
  readonly skipped: Readonly<SkipReasons>;
  /** Documents in classes. */
  readonly documents: number;
}

/** An empty classifier. */
export function createClassifier(
  parameters: Pick<AnalysisParameters, "minWords" | "ngramSize">,
): Classifier {
  const table = createHashTable();
  const classes: TextClass[] = [];
  const skipped: SkipReasons = { noContent: 0, tooShort: 0, shinglesFailed: 0 };
  let documents = 0;
  return {
    classes,
    skipped,
    get documents() {
      return documents;
    },
    add(document, { hash, wordCount }) {
      const reason = skipReason(hash, wordCount, parameters);
      if (reason) {
        skipped[reason] += 1;
        return reason;
      }
      documents += 1;
      const known = classes[table.add(hash)];
      if (known) {
        known.documents.push(document);
        return known;
      }
      const made = { hash, wordCount, documents: [document] };
      classes.push(made);
      return made;
    },
  };
}

function skipReason(
  hash: Uint8Array,
  wordCount: number,
  { minWords, ngramSize }: Pick<AnalysisParameters, "minWords" | "ngramSize">,
): keyof SkipReasons | undefined {
  if (hash.length === 0 || wordCount === 0) return "noContent";
  if (wordCount < minWords) return "tooShort";
  return wordCount < ngramSize ? "shinglesFailed" : undefined;
}

/**
 * Verified pairs of documents: those that the groups' pairs stand for, and all documents of one
 * text. A pair that was found in two groups counts once, since a pair is verified once.
 */
export function documentPairs({ texts, vertices, stars }: AnalysisOutcome): number {
  let pairs = 0;
  for (const { documents } of texts) pairs += (documents.length * (documents.length - 1)) / 2;
  for (const { centre, members } of stars) {
    const own = vertices.vertex(centre).documents.length;
    for (const { vertex } of members) pairs += own * vertices.vertex(vertex).documents.length;
  }
  return pairs;
}

/** The groups of an outcome. */
export function foundGroups({ texts, vertices, stars }: AnalysisOutcome): Steps<FoundGroup[]> {
  return groupSteps({ documents: texts.map(({ documents }) => documents), vertices, stars });
}

/** A document as a report shows it. */
export interface ReportableDocument extends PrimaryCandidate {
  /** The same for all names of one file. */
  readonly hardLink?: string | undefined;
  /** What the reader knows the document by: a path, the id of a line. Distinct. */
  readonly ref: string;
  readonly title: string;
}

/** A member of a reported group. */
interface ReportableMember {
  /** Of the document. */
  readonly number: number;
  readonly ref: string;
  readonly title: string;
  readonly primary: boolean;
  readonly wordCount: number;
  readonly truncated?: boolean | undefined;
  readonly hardLink?: string | undefined;
}

/** A group as a report shows it. Scores are means over its verified pairs, 0 to 1. */
export interface ReportableGroup {
  /** Made from the members: the same members have the same id in every run. */
  readonly id: string;
  readonly confidence: number;
  readonly jaccard: number;
  readonly fuzzy: number;
  readonly discriminative: number;
  /** The suggested primary first, then by reference. */
  readonly members: readonly ReportableMember[];
  /** Why the members match, and why the primary should stay. */
  readonly reasons: readonly string[];
  /** Verified pairs of documents. */
  readonly pairs: number;
  /** As the analysis found it, by the numbers of documents. */
  readonly found: FoundGroup;
}

/** What groups are reported from. */
export interface GroupDocumentsInput {
  /** By the numbers that the classes hold. */
  document(number: number): ReportableDocument;
  /** The full text in UTF-8 under zstd. */
  text(number: number): Uint8Array | undefined;
  readonly outcome: AnalysisOutcome;
  readonly parameters: Pick<AnalysisParameters, "ngramSize" | "fuzzySampleSize">;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Groups that are described at once. */
const GROUPS_AT_ONCE = 256;

/**
 * The groups of documents that no store knows, the most confident first. Rejects with the signal's
 * reason.
 */
export async function groupDocuments(input: GroupDocumentsInput): Promise<ReportableGroup[]> {
  const slices = { clock: input.clock, signal: input.signal };
  const found = await runInSlices(foundGroups(input.outcome), slices);
  const pause = createPause(slices);
  const groups: ReportableGroup[] = [];
  for (let at = 0; at < found.length; at += GROUPS_AT_ONCE) {
    const some = found.slice(at, at + GROUPS_AT_ONCE);
    const descriptions = await describeGroups(some, {
      ...input,
      facts: (number) => input.document(number),
    });
    for (const [index, group] of some.entries())
      groups.push(
        report(group, descriptions[index]?.primary ?? 0, descriptions[index]?.reasons ?? [], input),
      );
    await pause();
  }
  return groups.sort(
    (a, b) =>
      b.confidence - a.confidence ||
      b.members.length - a.members.length ||
      compareText(a.members[0]?.ref ?? "", b.members[0]?.ref ?? "") ||
      compareText(a.id, b.id),
  );
}

function report(
  group: FoundGroup,
  primary: number,
  reasons: readonly string[],
  input: GroupDocumentsInput,
): ReportableGroup {
  const members = group.members.map((number) => {
    const { ref, title, wordCount, truncated, hardLink } = input.document(number);
    return { number, ref, title, wordCount, truncated, hardLink, primary: number === primary };
  });
  members.sort((a, b) => Number(b.primary) - Number(a.primary) || compareText(a.ref, b.ref));
  return {
    id: newGroupId(
      0,
      members.map(({ ref }) => ref),
    ),
    ...group.scores,
    members,
    reasons,
    pairs: group.verified,
    found: group,
  };
}
