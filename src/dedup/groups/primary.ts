/**
 * Which member should stay, and why. The rules are asked in turn, each comparing with the best of
 * the group, so that the choice does not depend on the order of the members: pages, complete text, clean
 * text, metadata, age, name, and at last the lowest id or first name in the archive.
 */
import { compareText } from "./vertices.ts";

/** What the rules look at. */
export interface PrimaryCandidate {
  readonly archive: string;
  readonly archiveRef: string;
  readonly paperlessId?: number | undefined;
  readonly wordCount: number;
  /** Of its file, where the archive counts them. */
  readonly pageCount?: number | undefined;
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
  /** `narrowed`: the rules before have ruled out some. */
  readonly reason: (candidate: PrimaryCandidate, narrowed: boolean) => string;
  /** Higher is better; `left` are those that the rules before have not ruled out. */
  readonly rank: (candidate: PrimaryCandidate, left: Best) => number;
}

/** What is best among the candidates that are left. */
interface Best {
  /** Undefined unless the pages of all are known. */
  readonly pages: number | undefined;
  readonly words: number;
  readonly quality: number;
}

/** Chooses among at least one candidate. */
export function suggestPrimary(candidates: readonly PrimaryCandidate[]): PrimaryChoice {
  const helped: { readonly rule: Rule; readonly narrowed: boolean }[] = [];
  let best = [...candidates.keys()];
  for (const rule of RULES) {
    if (best.length < 2) break;
    const present = bestOf(best.map((index) => candidates[index] as PrimaryCandidate));
    const ranks = new Map(
      best.map((index) => [index, rule.rank(candidates[index] as PrimaryCandidate, present)]),
    );
    const highest = best.reduce(
      (top, index) => Math.max(top, ranks.get(index) ?? -Infinity),
      -Infinity,
    );
    const left = best.filter((index) => ranks.get(index) === highest);
    if (left.length < best.length) helped.push({ rule, narrowed: best.length < candidates.length });
    best = left;
  }
  const [index = 0] = best.sort((a, b) =>
    compareIds(candidates[a] as PrimaryCandidate, candidates[b] as PrimaryCandidate),
  );
  const chosen = candidates[index] as PrimaryCandidate;
  const reasons = helped.map(({ rule, narrowed }) => rule.reason(chosen, narrowed));
  if (best.length > 1)
    reasons.push(
      `${chosen.paperlessId === undefined ? "first by name" : "lowest id"} among ${best.length} equals: ${idOf(chosen)}`,
    );
  return { index, reasons };
}

function bestOf(candidates: readonly PrimaryCandidate[]): Best {
  let pages: number | undefined = 0;
  let words = 0;
  let quality = 0;
  for (const candidate of candidates) {
    const { pageCount } = candidate;
    pages = pages === undefined || pageCount === undefined ? undefined : Math.max(pages, pageCount);
    words = Math.max(words, candidate.wordCount);
    quality = Math.max(quality, candidate.quality ?? 0);
  }
  return { pages, words, quality };
}

const RULES: readonly Rule[] = [
  {
    rank: ({ pageCount }, { pages }) => Number(pages === undefined || pageCount === pages),
    reason: ({ pageCount = 0 }) => `most pages, ${pageCount}`,
  },
  {
    rank: ({ wordCount }, { words }) => Number(wordCount >= COMPLETE * words),
    reason: ({ wordCount }) => `complete text of ${wordCount} words`,
  },
  {
    rank: (candidate, { quality }) => Number((candidate.quality ?? 0) >= quality - CLEAN_MARGIN),
    reason: ({ quality }, narrowed) =>
      `cleanest ${narrowed ? "of the complete texts" : "text"}, ${Math.floor(100 * (quality ?? 0))} % ordinary characters`,
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
    readDate(createdDate) === undefined ? "" : "date",
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
    const atMs = readDate(candidate[name]);
    if (atMs !== undefined) return { atMs, text: `${text} ${candidate[name]}` };
  }
  return { atMs: Number.MAX_VALUE, text: "no date" };
}

/** `YYYY`, `YYYY-MM`, `YYYY-MM-DD`, or a date-time of ISO 8601; a space may stand for its T. */
const WRITTEN = new RegExp(
  String.raw`^(?<year>\d{4})(?:-(?<month>\d\d)(?:-(?<day>\d\d)(?:[t ](?<clock>\d\d:\d\d)` +
    String.raw`(?<seconds>:\d\d)?(?:[.,](?<fraction>\d{1,9}))?` +
    String.raw`(?:z|(?<hours>[+-]\d\d)(?::?(?<minutes>\d\d))?)?)?)?)?$`,
  "i",
);

/**
 * Milliseconds since 1970, a time without a zone in UTC. Undefined for any other text: Date.parse
 * reads 05.02.2023 as 2 May, "invoice 12" as 2001, and times without a zone in that of the process.
 */
function readDate(text: string | undefined): number | undefined {
  const parts = WRITTEN.exec(text ?? "")?.groups;
  if (parts === undefined) return undefined;
  const { year, month = "01", day = "01", hours, minutes = "00" } = parts;
  const { clock = "00:00", seconds = ":00", fraction = "0" } = parts;
  const date = `${year}-${month}-${day}`;
  const zone = hours === undefined ? "Z" : `${hours}:${minutes}`;
  const atMs = Date.parse(`${date}T${clock}${seconds}.${fraction.slice(0, 3)}${zone}`);
  return Number.isNaN(atMs) || !isDay(date) ? undefined : atMs;
}

/** Date.parse makes 2 March of 30 February. */
function isDay(date: string): boolean {
  return new Date(Date.parse(`${date}T00:00:00Z`)).toISOString().startsWith(date);
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
