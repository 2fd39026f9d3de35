/** Near-copies of documents: a few words changed by a hand, or letters misread by a scanner. */
import type { DemoDocument } from "./document.ts";
import type { Random } from "./random.ts";

const SYNONYMS: Readonly<Record<string, string>> = {
  before: "prior to",
  until: "till",
  every: "each",
  about: "regarding",
  whenever: "as soon as",
  most: "mainly",
  should: "ought to",
  please: "kindly",
  again: "once more",
  never: "at no time",
  after: "following",
  may: "might",
  often: "usually",
  put: "placed",
  needs: "requires",
  small: "minor",
  begin: "start",
  begins: "starts",
  whatever: "no matter what",
  together: "along",
  held: "kept",
  since: "because",
  only: "just",
  without: "lacking",
  still: "even now",
  costs: "comes to",
  whether: "if",
  further: "additional",
  agreed: "decided",
};
const INSERTED = ["also", "indeed", "as agreed", "of course", "in any case", "for now", "at last"];

/** Letters and what a scanner reads instead. */
const MISREADINGS: readonly (readonly [string, string])[] = [
  ["rn", "m"],
  ["m", "rn"],
  ["l", "1"],
  ["O", "0"],
  ["o", "0"],
  ["cl", "d"],
  ["h", "b"],
  ["e", "c"],
  ["i", "l"],
  ["S", "5"],
  ["B", "8"],
  ["t", "f"],
  ["nn", "m"],
  ["vv", "w"],
  ["a", "o"],
];
/** Characters misread of a hundred. */
const MISREAD_PERCENT = 1;

/** The document with `changes` words replaced or put in; numbers, names and dates stay. */
export function editWords(document: DemoDocument, changes: number, random: Random): DemoDocument {
  return mapWords(
    document,
    changes,
    (word) => /^[a-z]{3,}$/.test(word),
    (word) => {
      const synonym = Object.hasOwn(SYNONYMS, word) ? SYNONYMS[word] : undefined;
      return synonym ?? `${word} ${random.pick(INSERTED)}`;
    },
    (word) => (Object.hasOwn(SYNONYMS, word) ? 0 : 1),
    random,
  );
}

/**
 * The document as a second scan reads it: about 1 % of the characters are wrong, except those
 * beside a figure.
 */
export function misreadLetters(document: DemoDocument, random: Random): DemoDocument {
  const characters = document.paragraphs.reduce((sum, paragraph) => sum + paragraph.length, 0);
  return mapWords(
    document,
    Math.max(1, Math.round((characters * MISREAD_PERCENT) / 100)),
    (word) => /^[A-Za-z]{3,}[.,]?$/.test(word),
    (word) => misread(word, random),
    () => 0,
    random,
  );
}

function misread(word: string, random: Random): string {
  const possible = MISREADINGS.filter(([from]) => word.includes(from));
  if (possible.length === 0) return word;
  const [from, to] = random.pick(possible);
  return word.replace(from, to);
}

/**
 * Changes `count` words that `suits` accepts, those of lower `rank` first, each at most once; never
 * one near a figure.
 */
function mapWords(
  document: DemoDocument,
  count: number,
  suits: (word: string) => boolean,
  change: (word: string) => string,
  rank: (word: string) => number,
  random: Random,
): DemoDocument {
  const texts = document.paragraphs.map((paragraph) => paragraph.split(/( |\n)/));
  const positions = texts
    .flatMap((words, paragraph) => words.map((word, index) => ({ paragraph, index, word })))
    .filter(
      ({ paragraph, index, word }) =>
        suits(word) &&
        !(texts[paragraph] ?? [])
          .slice(Math.max(0, index - 4), index + 5)
          .some((near) => /\d/.test(near)),
    );
  const chosen = random
    .shuffle(positions)
    .toSorted((a, b) => rank(a.word) - rank(b.word))
    .slice(0, count);
  for (const { paragraph, index, word } of chosen) {
    const words = texts[paragraph];
    if (words !== undefined) words[index] = change(word);
  }
  return { ...document, paragraphs: texts.map((words) => words.join("")) };
}
