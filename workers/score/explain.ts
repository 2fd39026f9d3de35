/** Explains in words why two texts match and where they differ. */
import { CATEGORIES, type Category, type TokenSets } from "./token-sets.ts";

/** The similarities of a pair, each 0 to 1; NaN for one that was not computed. */
export interface ExplainedScores {
  readonly jaccard: number;
  readonly fuzzy: number;
  /** The normalised texts are equal. */
  readonly sameText: boolean;
  /** Words in a phrase; 3 when absent. */
  readonly ngramSize?: number;
}

/** Values named per category and list; the rest is counted. */
const MAX_VALUES = 4;
/** UTF-16 units shown of a value. */
const MAX_LENGTH = 40;

const NAMES: Readonly<Record<Category, readonly [one: string, many: string]>> = {
  dates: ["date", "dates"],
  times: ["time", "times"],
  amounts: ["amount", "amounts"],
  identifiers: ["identifying number", "identifying numbers"],
  references: ["reference number", "reference numbers"],
  routes: ["route", "routes"],
};
const COUNTS: readonly string[] = [
  "no",
  "one",
  "two",
  "three",
  "four",
  "five",
  "six",
  "seven",
  "eight",
  "nine",
];

/**
 * The reasons, most telling first: the similarities, then by category what is the same and what
 * differs, as "different dates: 2024-03-14 / 2024-06-14". An exact copy says just that. Bounded: at
 * most three lines a category, four values a list, 40 characters a value. The texts are called
 * first and second in the order given.
 */
export function explain(a: TokenSets, b: TokenSets, scores: ExplainedScores): string[] {
  if (scores.sameText) return ["exact copy: the texts are the same, word for word"];
  const words = COUNTS[scores.ngramSize ?? 3] ?? String(scores.ngramSize);
  const phrases = scores.ngramSize === 1 ? "words" : `${words}-word phrases`;
  return [
    `${percent(scores.jaccard)} % of ${phrases} shared`,
    ...(Number.isNaN(scores.fuzzy)
      ? []
      : [`${percent(scores.fuzzy)} % alike letter by letter, whatever the order of the words`]),
    ...CATEGORIES.flatMap((category) => explainCategory(category, a[category], b[category])),
  ];
}

function explainCategory(
  category: Category,
  a: readonly string[],
  b: readonly string[],
): readonly string[] {
  const inA = new Set(a);
  const inB = new Set(b);
  const both = b.filter((token) => inA.has(token));
  const onlyA = a.filter((token) => !inB.has(token));
  const onlyB = b.filter((token) => !inA.has(token));
  const lines = both.length > 0 ? [`same ${named(category, both)}`] : [];
  if (onlyA.length > 0 && onlyB.length > 0) {
    return [...lines, `different ${NAMES[category][1]}: ${list(onlyA)} / ${list(onlyB)}`];
  }
  if (onlyA.length > 0) return [...lines, `only the first text has ${named(category, onlyA)}`];
  return onlyB.length > 0
    ? [...lines, `only the second text has ${named(category, onlyB)}`]
    : lines;
}

function named(category: Category, tokens: readonly string[]): string {
  const [one, many] = NAMES[category];
  return tokens.length === 1 ? `${one} ${list(tokens)}` : `${many} ${list(tokens)}`;
}

function list(tokens: readonly string[]): string {
  const shown = tokens.slice(0, MAX_VALUES).map(cut).join(", ");
  return tokens.length > MAX_VALUES ? `${shown} and ${tokens.length - MAX_VALUES} more` : shown;
}

function cut(token: string): string {
  const readable = token.replace(">", " to ");
  return readable.length <= MAX_LENGTH ? readable : `${readable.slice(0, MAX_LENGTH - 1)}…`;
}

/** Rounded down, so that only what is complete is called 100 %. */
function percent(share: number): number {
  return Math.floor(share * 100 + 1e-9);
}
