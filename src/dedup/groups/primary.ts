/**
 * Which member should stay, and why. The rules are asked in turn, each comparing with the best of
 * the group, so that the choice does not depend on the order of the members: complete text, clean
 * text, metadata, age, name, and at last the lowest id or first name in the archive.
 */
import { compareText } from "./vertices.ts";

/** What the rules look at. */
export interface PrimaryCandidate {
  readonly archive: string;
  readonly archiveRef: string;
  readonly paperlessId?: number | undefined;
  readonly wordCount: number;
  /** Only the beginning of its text was read. */
  readonly truncated?: boolean | undefined;
  /** Share of ordinary characters, 0 to 1; undefined when not measured. */
  readonly quality?: number | undefined;
  readonly correspondent?: string | undefined;
  readonly documentType?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly createdDate?: string | undefined;
  readonly addedDate?: string | undefined;
  /** When it was last changed: the age of a file that has no other date. */
  readonly modifiedDate?: string | undefined;
}

/** The suggestion. */
export interface PrimaryChoice {
  /** Index of the candidate. */
  readonly index: number;
  /** What it is better at than some other member; one line each. */
  readonly reasons: readonly string[];
}

/** Texts within this share of the longest count as equally complete. */
const COMPLETE = 0.95;
/** Qualities this close to the best count as equally clean. */
const CLEAN_MARGIN = 0.02;

/**
 * Names that people and systems give to copies: `a copy.txt`, `a-copy-2.md`, `a (1).txt`, `copy of
 * a.txt`, `a - Kopie.txt`.
 */
const COPY_NAME =
  /(?:^|\/)(?:copy|kopie|copie) (?:of|von|de) [^/]*$|[ _-](?:copy|kopie|copie)(?:[ _-]?\(?\d+\)?)?(?:\.[^/.]*)*$|\(\d{1,2}\)(?:\.[^/.]*)*$/i;

interface Rule {
  readonly reason: (candidate: PrimaryCandidate) => string;
  /** Higher is better. */
  readonly rank: (candidate: PrimaryCandidate) => number;
}

/** Chooses among at least one candidate. */
export function suggestPrimary(candidates: readonly PrimaryCandidate[]): PrimaryChoice {
  const helped: Rule[] = [];
  let best = [...candidates.keys()];
  for (const rule of rulesFor(candidates)) {
    if (best.length < 2) break;
    const ranks = new Map(
      best.map((index) => [index, rule.rank(candidates[index] as PrimaryCandidate)]),
    );
    const highest = best.reduce(
      (top, index) => Math.max(top, ranks.get(index) ?? -Infinity),
      -Infinity,
    );
    const left = best.filter((index) => ranks.get(index) === highest);
    if (left.length < best.length) helped.push(rule);
    best = left;
  }
  const [index = 0] = best.sort((a, b) =>
    compareIds(candidates[a] as PrimaryCandidate, candidates[b] as PrimaryCandidate),
  );
  const chosen = candidates[index] as PrimaryCandidate;
  const reasons = helped.map((rule) => rule.reason(chosen));
  if (best.length > 1)
    reasons.push(
      `${chosen.paperlessId === undefined ? "first by name" : "lowest id"} among ${best.length} equals: ${idOf(chosen)}`,
    );
  return { index, reasons };
}

function rulesFor(candidates: readonly PrimaryCandidate[]): Rule[] {
  let mostWords = 0;
  let cleanest = 0;
  for (const { wordCount, quality } of candidates) {
    mostWords = Math.max(mostWords, wordCount);
    cleanest = Math.max(cleanest, quality ?? 0);
  }
  return [
    {
      rank: ({ wordCount }) => Number(wordCount >= COMPLETE * mostWords),
      reason: ({ wordCount }) => `complete text of ${wordCount} words`,
    },
    {
      rank: ({ quality }) => Number((quality ?? 0) >= cleanest - CLEAN_MARGIN),
      reason: ({ quality }) =>
        `cleanest text, ${Math.floor(100 * (quality ?? 0))} % ordinary characters`,
    },
    {
      rank: (candidate) => metadataOf(candidate).length,
      reason: (candidate) => `most metadata (${metadataOf(candidate).join(", ")})`,
    },
    {
      rank: (candidate) => -ageOf(candidate).atMs,
      reason: (candidate) => `oldest, ${ageOf(candidate).text}`,
    },
    {
      rank: ({ archiveRef }) => Number(!COPY_NAME.test(archiveRef)),
      reason: () => "not named as a copy",
    },
  ];
}

function metadataOf({
  correspondent,
  documentType,
  tags,
  createdDate,
}: PrimaryCandidate): string[] {
  return [
    correspondent ? "correspondent" : "",
    documentType ? "document type" : "",
    tags?.length ? "tags" : "",
    createdDate ? "date" : "",
  ].filter((name) => name !== "");
}

const DATES: readonly (readonly [
  name: "createdDate" | "addedDate" | "modifiedDate",
  text: string,
])[] = [
  ["createdDate", "created"],
  ["addedDate", "added"],
  ["modifiedDate", "not changed since"],
];

function ageOf(candidate: PrimaryCandidate): { atMs: number; text: string } {
  for (const [name, text] of DATES) {
    const atMs = Date.parse(candidate[name] ?? "");
    if (!Number.isNaN(atMs)) return { atMs, text: `${text} ${candidate[name]}` };
  }
  return { atMs: Number.MAX_VALUE, text: "no date" };
}

function compareIds(a: PrimaryCandidate, b: PrimaryCandidate): number {
  return (
    (a.paperlessId ?? Number.MAX_VALUE) - (b.paperlessId ?? Number.MAX_VALUE) ||
    compareText(a.archive, b.archive) ||
    compareText(a.archiveRef, b.archiveRef)
  );
}

function idOf({ paperlessId, archiveRef }: PrimaryCandidate): string {
  return paperlessId === undefined ? archiveRef : `${paperlessId}`;
}
