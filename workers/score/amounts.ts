/**
 * Sums of money in one form: `1234.56`, whether written 1,234.56 or 1.234,56 or 1'234.56 or
 * 1 234,56; a whole sum has `.00`. A number is a sum when a currency stands beside it, when a money
 * word stands before it, or when it has exactly two decimals and at least three digits before them
 * (so that a misread label does not change what a number is). Thousands set apart by a space cannot
 * be told from two numbers; joined, a difference in either shows.
 */
import { anyOf, CURRENCY_CODES, CURRENCY_WORDS, MONEY_WORDS } from "./labels.ts";
import { CLAIMED, type Found } from "./token-sets.ts";

/** A run of digits and separators, from a digit to a digit. */
const RUN = /\d(?:[\d.,'’]*\d)?/g;
/** Longer runs are no sums of money. */
const MAX_RUN = 30;
const ENGLISH = /^[1-9]\d{0,2}(?:,\d{2,3})*,\d{3}(?:\.\d+)?$/;
const CONTINENTAL = /^[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?$/;
const SWISS = /^[1-9]\d{0,2}(?:['’]\d{3})+(?:[.,]\d+)?$/;
/** Groups that do not go through to the front, as 4676,388.46: the decimals tell it from two numbers. */
const PARTLY_GROUPED = /^[1-9]\d{3,}(?:(?:,\d{3})+\.\d{2}|(?:\.\d{3})+,\d{2})$/;
const PLAIN = /^\d+(?:[.,]\d+)?$/;

const SIGN = "[\\p{Sc}ƒ]";
const CODE = anyOf(CURRENCY_CODES);
const ANY_CODE = anyOf([...CURRENCY_CODES, ...CURRENCY_WORDS]);
const SIGN_BEFORE = new RegExp(`(?<=${SIGN}\\s?)`, "uy");
/** Not "24.50 eur 3163": there the code belongs to the first number. */
const CODE_BEFORE = new RegExp(`(?<=(?<![\\p{L}\\d]|\\d\\s)${CODE}\\s?)`, "uy");
const CURRENCY = `\\s?(?:${SIGN}|${CODE}(?![\\p{L}\\d]))`;
/** Further sums, each before its currency. */
const SUMS = `(?:\\s\\d[\\d.,'’]{0,30}${CURRENCY}){1,8}(?!\\s?\\d)`;
/** Not "12 € 50": there the sign belongs to the second number. But "12 € 50 €", and "12,- €". */
const CURRENCY_AFTER = new RegExp(
  `(?:[.,][-–—]{1,2})?${CURRENCY}(?:(?=${SUMS})|(?!\\s?\\d))`,
  "uy",
);
const DECIMAL_CURRENCY_AFTER = new RegExp(`\\s?(?:${SIGN}|${ANY_CODE}(?![\\p{L}\\d]))`, "uy");
const DECIMAL_LABEL_BEFORE = new RegExp(
  `(?<=(?<![\\p{L}\\d])(?:${anyOf(MONEY_WORDS)}(?![\\p{L}\\d])[^\\d${CLAIMED}]{0,30}|${anyOf(CURRENCY_WORDS)}\\s?))`,
  "uy",
);
/** A letter, or a code that goes on: then the run is a part of something else. */
const PART_BEFORE = /(?<=\p{L}|[\p{L}\d][-/])/uy;
const PART_AFTER = /\p{L}|[-/]\d|\s?%/uy;

/** Thousands set apart by a space, with decimals or before a currency; no other number beside. */
const SPACED = new RegExp(
  `(?<![\\d.,'’] ?)[1-9]\\d{0,2}(?: \\d{3}){1,4}(?:[.,]\\d{2}(?![.,'’]?\\d)|(?=${CURRENCY}(?!\\s?\\d)))`,
  "uy",
);

interface Sum {
  readonly token: string;
  /** Has exactly two decimals. */
  readonly decimal: boolean;
  /** Is long enough to be a sum on the strength of its decimals alone. */
  readonly long: boolean;
}

/**
 * The sums of money of a lower-case text whose dates and times are claimed; their stretches do not
 * overlap.
 */
export function findAmounts(text: string): readonly Found[] {
  const found: Found[] = [];
  let end = 0;
  for (const { 0: run, index: start } of text.matchAll(RUN)) {
    if (start < end) continue;
    const sum = sumAt(text, start, spacedAt(text, start)) ?? sumAt(text, start, run);
    if (sum === undefined) continue;
    found.push(sum);
    end = sum.end;
  }
  return found;
}

function spacedAt(text: string, start: number): string {
  SPACED.lastIndex = start;
  return SPACED.exec(text)?.[0] ?? "";
}

function sumAt(text: string, start: number, written: string): Found | undefined {
  const end = start + written.length;
  const sum = written.length <= MAX_RUN ? readSum(written.replaceAll(" ", "")) : undefined;
  return sum !== undefined && isAmount(text, start, end, sum)
    ? { token: sum.token, start, end }
    : undefined;
}

function isAmount(text: string, start: number, end: number, sum: Sum): boolean {
  if (at(SIGN_BEFORE, text, start)) return true;
  if (at(CODE_BEFORE, text, start)) return !at(PART_AFTER, text, end);
  if (at(PART_BEFORE, text, start)) return false;
  if (at(sum.decimal ? DECIMAL_CURRENCY_AFTER : CURRENCY_AFTER, text, end)) return true;
  if (!sum.decimal || at(PART_AFTER, text, end)) return false;
  return sum.long || at(DECIMAL_LABEL_BEFORE, text, start);
}

/** The sum that a run of digits and separators stands for, if it is well formed. */
function readSum(run: string): Sum | undefined {
  const grouped =
    ENGLISH.test(run) || CONTINENTAL.test(run) || SWISS.test(run) || PARTLY_GROUPED.test(run);
  if (!grouped && !PLAIN.test(run)) return undefined;
  // A grouped run has decimals after its last separator only if that one differs from the one that
  // groups.
  const last = Math.max(run.lastIndexOf("."), run.lastIndexOf(","));
  const separator = last < 0 ? "" : (run[last] ?? "");
  const grouping = grouped ? (/[.,'’]/.exec(run)?.[0] ?? "") : "";
  const hasDecimals = last >= 0 && separator !== grouping;
  const whole = (hasDecimals ? run.slice(0, last) : run).replaceAll(/\D/g, "");
  const decimals = hasDecimals ? run.slice(last + 1) : "";
  const trimmed = decimals.replace(/0{1,30}$/, "").padEnd(2, "0");
  return {
    token: `${whole.replace(/^0{1,30}(?=\d)/, "")}.${trimmed}`,
    decimal: decimals.length === 2,
    long: whole.length >= 3,
  };
}

function at(pattern: RegExp, text: string, position: number): boolean {
  pattern.lastIndex = position;
  return pattern.test(text);
}
