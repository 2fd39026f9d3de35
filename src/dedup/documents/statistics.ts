/** Counts over all documents, from the names and numbers that the list of documents holds. */
import type { Vocabulary } from "./vocabulary.ts";

/** Between the tags of a document where they are one name. */
export const TAG_SEPARATOR = "\0";

const SHOWN_NAMES = 20;
const SHOWN_TAGS = 30;

export interface NameCount {
  readonly name: string;
  readonly count: number;
}

export interface DocumentStatistics {
  readonly total: number;
  readonly pending: number;
  readonly withContent: number;
  /** The most frequent first. */
  readonly correspondents: readonly NameCount[];
  readonly documentTypes: readonly NameCount[];
  readonly tags: readonly NameCount[];
  /** Of the documents with content, rounded; 0 without any. */
  readonly averageWordCount: number;
  /** As `2026-11`, ascending. */
  readonly addedMonths: readonly NameCount[];
  /** In the order of the ranges. */
  readonly lengths: readonly NameCount[];
  readonly withoutCorrespondent: number;
  readonly withoutType: number;
  readonly withoutTags: number;
}

interface DocumentNumbers {
  readonly names: Readonly<
    Record<"correspondent" | "documentType" | "tags" | "addedMonth", Pick<Vocabulary, "counts">>
  >;
  readonly size: number;
  readonly pending: number;
  /** Of the documents that have content. */
  readonly lengths: Pick<LengthCounts, "documents" | "words" | "ranges">;
}

/** Lower bounds in words. */
const LENGTHS: readonly (readonly [least: number, name: string])[] = [
  [0, "0 - 100"],
  [100, "100 - 500"],
  [500, "500 - 1K"],
  [1_000, "1K - 5K"],
  [5_000, "5K - 10K"],
  [10_000, "10K+"],
];

export function countDocuments({
  names,
  size,
  pending,
  lengths,
}: DocumentNumbers): DocumentStatistics {
  const correspondents = [...names.correspondent.counts()];
  const types = [...names.documentType.counts()];
  const lists = [...names.tags.counts()];
  const { documents: withContent, words, ranges } = lengths;
  return {
    total: size,
    pending,
    withContent,
    correspondents: mostFrequent(correspondents, SHOWN_NAMES),
    documentTypes: mostFrequent(types, SHOWN_NAMES),
    tags: mostFrequent(countTags(lists), SHOWN_TAGS),
    averageWordCount: withContent === 0 ? 0 : Math.round(words / withContent),
    addedMonths: [...names.addedMonth.counts()]
      .map(([name, count]) => ({ name, count }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    lengths: LENGTHS.map(([, name], at) => ({ name, count: ranges[at] ?? 0 })),
    withoutCorrespondent: size - sumOf(correspondents),
    withoutType: size - sumOf(types),
    withoutTags: size - sumOf(lists),
  };
}

/** The month of a date as an archive gives it; undefined where it does not begin with one. */
export function monthOf(date: string | undefined): string | undefined {
  return date === undefined ? undefined : /^\d{4}-(0[1-9]|1[0-2])/.exec(date)?.[0];
}

type Counts = Iterable<readonly [name: string, rows: number]>;

/** The most frequent names; equally frequent ones by name. */
export function mostFrequent(counts: Counts, limit: number): NameCount[] {
  return [...counts]
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .slice(0, limit)
    .map(([name, count]) => ({ name, count }));
}

function countTags(lists: Counts): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [list, rows] of lists)
    for (const tag of new Set(list.split(TAG_SEPARATOR)))
      counts.set(tag, (counts.get(tag) ?? 0) + rows);
  return counts;
}

/** How many documents have how many words, kept as documents come and go. */
export interface LengthCounts {
  add(words: number): void;
  /** Takes back one `add` of the same number. */
  remove(words: number): void;
  readonly documents: number;
  readonly words: number;
  /** Documents of each range. */
  readonly ranges: readonly number[];
}

export function createLengthCounts(): LengthCounts {
  const ranges = LENGTHS.map(() => 0);
  let documents = 0;
  let total = 0;
  const change = (words: number, by: 1 | -1): void => {
    documents += by;
    total += by * words;
    const range = LENGTHS.findLastIndex(([least]) => words >= least);
    ranges[range] = (ranges[range] ?? 0) + by;
  };
  return {
    add: (words) => change(words, 1),
    remove: (words) => change(words, -1),
    get documents() {
      return documents;
    },
    get words() {
      return total;
    },
    ranges,
  };
}

function sumOf(counts: Counts): number {
  let sum = 0;
  for (const [, rows] of counts) sum += rows;
  return sum;
}
