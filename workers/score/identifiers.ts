/**
 * Identifiers: numbers and codes that a label announces (invoice, booking, customer, flight, seat
 * …), and the last four digits of a masked card. Kept without separators. Each contains a digit: a
 * plain word is never one. They are found from their digits backwards, so a text without digits
 * costs one scan.
 */
import { anyOf, LABELS, NUMBER_WORDS, type LabelKind } from "./labels.ts";
import { type Found } from "./token-sets.ts";

const WORD_START = "(?<![\\p{L}\\d])";
const WORD_END = "(?![\\p{L}\\d])";
const NUMBER_WORD = anyOf(NUMBER_WORDS);
/** The last step from a label to its value. */
const GAP = "[\\s.:#]{0,4}";
/** "invoice no. #", "rechnungs-nr.:", "booking ref:" up to the value; the label alone will do. */
const LABELLED = (labels: string): string =>
  `(?<=${WORD_START}${labels}(?:(?:s|n|en)?[\\s.:#\\-]{0,3}${NUMBER_WORD}){0,2}${WORD_END}${GAP})`;
/** The same, but something has to say that a number follows: a word, a colon or a number sign. */
const MARKED = (labels: string): string =>
  `(?<=${WORD_START}(?:${NUMBER_WORD}[\\s.]{0,2}(?:de |du |d')?${labels}${GAP}` +
  `|${labels}(?:(?:s|n|en)?[\\s.:#\\-]{0,3}${NUMBER_WORD}){1,2}${WORD_END}${GAP}|${labels}\\s?[:#]\\s?))`;

const CODE = "[a-z\\d](?:[a-z\\d]|[-./](?=[a-z\\d])){2,29}";
const RULES: Readonly<
  Record<LabelKind, readonly [before: (labels: string) => string, value: string]>
> = {
  document: [LABELLED, CODE],
  flight: [LABELLED, "[a-z\\d]{2}\\d{1,4}"],
  booking: [LABELLED, "[a-z\\d]{4,10}"],
  file: [LABELLED, CODE],
  account: [MARKED, CODE],
  place: [LABELLED, "[a-z]?\\d{1,3}[a-z]?"],
  parcel: [LABELLED, "[a-z\\d]{8,30}"],
};
const PATTERNS: readonly RegExp[] = Object.entries(RULES).map(
  ([kind, [before, value]]) =>
    new RegExp(`${before(anyOf(LABELS[kind as LabelKind]))}${value}(?![\\p{L}\\d])`, "uy"),
);
const CARD = /(?:\*{4}|x{4}|•{4})\s?(\d{4})(?![\p{L}\d])/gu;
/** How far a value may reach to the left of its first digit. */
const MAX_REACH = 30;

/** The identifiers of a lower-case text whose dates, times and amounts are claimed. */
export function findIdentifiers(text: string): readonly Found[] {
  const found: Found[] = [];
  let previous = -1;
  for (const { index } of text.matchAll(/\d+/g)) {
    const start = startOfCode(text, index);
    if (start === previous) continue;
    previous = start;
    for (const pattern of PATTERNS) {
      pattern.lastIndex = start;
      const value = pattern.exec(text)?.[0];
      if (value === undefined || !/\d/.test(value)) continue;
      found.push({ token: value.replaceAll(/[-./]/g, ""), start, end: start + value.length });
    }
  }
  for (const match of text.matchAll(CARD)) {
    found.push({ token: match[1] ?? "", start: match.index, end: match.index + match[0].length });
  }
  return found;
}

/**
 * Where the code around a digit begins: as far left as ASCII letters, digits and `- . /` reach,
 * less leading marks.
 */
function startOfCode(text: string, digit: number): number {
  let start = digit;
  for (let at = digit - 1; at >= 0 && at >= digit - MAX_REACH; at--) {
    const unit = text.charCodeAt(at);
    const alphanumeric = (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x30 && unit <= 0x39);
    if (alphanumeric) start = at;
    else if (unit < 0x2d || unit > 0x2f) break;
  }
  return start;
}
