/**
 * The golden pairs (invented texts, token sets and D of the original) and the reasons why a token
 * of ours differs from the original's. Every reason is checked against the text by patterns of its
 * own, not by the code under test.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { MONTHS, anyOf } from "../../../workers/score/labels.ts";
import { discriminativeScore } from "../../../workers/score/discriminative.ts";
import { CATEGORIES, type Category, type TokenSets } from "../../../workers/score/token-sets.ts";
import { tokensOf } from "../../../workers/score/tokens.ts";

export interface GoldenPair {
  readonly a: string;
  readonly b: string;
  readonly D: number;
  readonly ta: TokenSets;
  readonly tb: TokenSets;
}

/** A golden line (from 1) on which our D is another, and why. */
export interface Exception {
  readonly line: number;
  readonly golden: number;
  readonly ours: number;
  readonly reasons: readonly string[];
}

const PAIRS = new URL("golden-discriminative.jsonl", import.meta.url);
const EXCEPTIONS = new URL("golden-exceptions.json", import.meta.url);

export function loadPairs(): readonly GoldenPair[] {
  return readFileSync(PAIRS, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as GoldenPair);
}

export function loadExceptions(): readonly Exception[] {
  return JSON.parse(readFileSync(EXCEPTIONS, "utf8")) as Exception[];
}

export function saveExceptions(exceptions: readonly Exception[]): void {
  writeFileSync(
    EXCEPTIONS,
    `[\n${exceptions.map((each) => JSON.stringify(each)).join(",\n")}\n]\n`,
  );
}

/**
 * The lines whose D differs, each differing token with its reason; a token without one reads
 * "UNEXPLAINED …".
 */
export function findExceptions(pairs: readonly GoldenPair[]): readonly Exception[] {
  return pairs.flatMap(({ a, b, D, ta, tb }, index) => {
    const ownA = tokensOf(a);
    const ownB = tokensOf(b);
    const ours = discriminativeScore(ownA, ownB);
    if (ours === D) return [];
    const reasons = [...new Set([...differences(a, ta, ownA), ...differences(b, tb, ownB)])].sort();
    return [{ line: index + 1, golden: D, ours, reasons }];
  });
}

function differences(text: string, golden: TokenSets, own: TokenSets): readonly string[] {
  return CATEGORIES.flatMap((category) => {
    const lost = golden[category].filter((token) => !own[category].includes(token));
    const gained = own[category].filter((token) => !golden[category].includes(token));
    return [
      ...lost.map(
        (token) =>
          reasonOfLost(category, token, text, own) ??
          `UNEXPLAINED lost ${category}: ${token} in: ${text}`,
      ),
      ...gained.map(
        (token) =>
          reasonOfGained(category, token, text, golden) ??
          `UNEXPLAINED gained ${category}: ${token} in: ${text}`,
      ),
    ];
  });
}

function reasonOfLost(
  category: Category,
  token: string,
  text: string,
  own: TokenSets,
): string | undefined {
  const digits = token.replaceAll(/\D/g, "");
  const dates = datesIn(text).filter((date) => date.digits === digits);
  const sums = sumsIn(text).filter((sum) => sum.digits.endsWith(digits));
  if (category === "dates") {
    if (dates.some((date) => date.month !== undefined && own.dates.includes(date.form)))
      return `month lost: ${token}`;
    if (dates.some((date) => own.dates.includes(date.form))) return "dates in one form";
    if (dates.some((date) => date.form === "")) return `no calendar date: ${token}`;
    return reasonOfMisreadDate(token, text, own);
  }
  if (category === "times") {
    const form = clock(token, text);
    const longer = new RegExp(`\\b(\\d{1,2}):${token.slice(0, 2)}:${token.slice(2)}\\b`).exec(text);
    if (longer !== null)
      return Number(longer[1]) > 23
        ? `no time of day: ${longer[0]}`
        : `part of a longer time: ${token}`;
    if (form === "") return `no time of day: ${token}`;
    if (own.times.includes(form)) return "times in one form";
  }
  if (category === "amounts" && own.amounts.some((sum) => Number(sum) === Number(token)))
    return "sums in one form";
  if (category === "identifiers") {
    if (!/\d/.test(token)) return `plain word was an identifier: ${token}`;
    if (new RegExp(`\\b${token} ${anyOf(MONTHS.keys())}`).test(text))
      return `day of a date was an identifier: ${token}`;
    if (own.amounts.includes(`${token}.00`) && new RegExp(`${token} [€$£¥]`).test(text))
      return `sum of money was an identifier: ${token}`;
  }
  if (category === "references") {
    if (dates.some((date) => own.dates.includes(date.form))) return `date counted twice: ${token}`;
    if (sums.some((sum) => own.amounts.includes(sum.form))) return `amount counted twice: ${token}`;
  }
  return undefined;
}

/** What the original took for a textual date though it is none, or is a part of another one. */
function reasonOfMisreadDate(token: string, text: string, own: TokenSets): string | undefined {
  const month = anyOf(MONTHS.keys());
  for (const match of text.matchAll(
    new RegExp(`\\b(\\d{1,2})[ /.-]+${month}[ /.,-]*(\\d{2,4})\\b`, "g"),
  )) {
    if (`${match[1]}${match[2]}` !== token) continue;
    if (/\d[.:/-]$/.test(text.slice(0, match.index))) return `part of a number was a day: ${token}`;
    if (match[2]?.length !== 4) return `two digits were a year: ${token}`;
  }
  for (const [, day, year = ""] of text.matchAll(
    new RegExp(`\\b${month} (\\d{1,2})(?:, ?| )(\\d{1,4})\\b`, "g"),
  )) {
    if (`${day}${year}` === token && year.length < 4) return `two digits were a year: ${token}`;
  }
  return own.dates.some((date) => date.startsWith(`${token}-`) && date.length === 10)
    ? `date counted twice: ${token}`
    : undefined;
}

function reasonOfGained(
  category: Category,
  token: string,
  text: string,
  golden: TokenSets,
): string | undefined {
  if (category === "dates") {
    const date = datesIn(text).find(
      ({ digits, form }) => form === token && golden.dates.includes(digits),
    );
    if (/sept/.test(text) && datesIn(text).some(({ form }) => form === token))
      return "month word unknown: sept";
    if (date !== undefined)
      return date.month === undefined ? "dates in one form" : `month lost: ${date.digits}`;
  }
  if (category === "times" && /^0\d:\d\d:\d\d$/.test(token) && text.includes(token.slice(1)))
    return `part of a longer time: ${token.slice(3).replace(":", "")}`;
  if (category === "times" && golden.times.some((time) => clock(time, text) === token))
    return "times in one form";
  if (category === "amounts") {
    if (golden.amounts.some((sum) => Number(sum) === Number(token))) return "sums in one form";
    const digits = token.replace(".", "");
    if (golden.references.includes(digits)) return `sum of money without a label: ${token}`;
    if (new RegExp(`${Number(token)} (?:[€$£¥]|usd|eur)`).test(text))
      return `currency after the sum: ${token}`;
  }
  return undefined;
}

interface WrittenDate {
  readonly digits: string;
  /** Only of textual dates. */
  readonly month: number | undefined;
  /** The form that we should give it, empty when it is no calendar date. */
  readonly form: string;
}

function datesIn(text: string): readonly WrittenDate[] {
  const month = `(${anyOf(MONTHS.keys())})`;
  const textual = [
    ...text.matchAll(new RegExp(`\\b(\\d{1,2})[ /.-]+${month}[ /.,-]*(\\d{4})\\b`, "g")),
    ...text.matchAll(new RegExp(`\\b()${month} (\\d{4})\\b`, "g")),
    ...[...text.matchAll(new RegExp(`\\b${month} (\\d{1,2}),? ?(\\d{4})\\b`, "g"))].map(
      ([all, name, day, year]) => [all, day, name, year],
    ),
  ].map(([, day = "", name = "", year = ""]) => {
    const number = MONTHS.get(name) ?? 0;
    return {
      digits: day + year,
      month: number,
      form: [year, pad(number), ...(day === "" ? [] : [pad(Number(day))])].join("-"),
    };
  });
  const numeric = [...text.matchAll(/(?<=\b)\d{1,4}([-/.])\d{1,2}([-/.])\d{1,4}\b/g)].map(
    ([all, first = "", second = ""]) => ({
      digits: all.replaceAll(/\D/g, ""),
      month: undefined,
      form: first === second ? numericForm(all.split(first)) : "",
    }),
  );
  return [...textual, ...numeric];
}

function numericForm([first = "", middle = "", last = ""]: readonly string[]): string {
  if (first.length === 4) return real(`${first}-${pad(Number(middle))}-${pad(Number(last))}`);
  const year = last.length === 2 ? `20${last}` : last;
  const [day, month] = [Number(first), Number(middle)];
  if (day > 12 || day === month) return real(`${year}-${pad(month)}-${pad(day)}`);
  if (month > 12) return real(`${year}-${pad(day)}-${pad(month)}`);
  return `${pad(day)}/${pad(month)}/${year}`;
}

/** The day itself, or nothing when the calendar has no such day. */
function real(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  return Number.isNaN(date.getTime()) || !date.toISOString().startsWith(day) ? "" : day;
}

/**
 * The form of the golden time `digits`, as written in the text; empty when there is no such time of
 * day.
 */
function clock(digits: string, text: string): string {
  const match =
    new RegExp(`\\b${digits.slice(0, -2)}:?${digits.slice(-2)} ?([ap]m)?`).exec(text) ??
    new RegExp(
      `\\b${digits.slice(0, -4)}:${digits.slice(-4, -2)}:${digits.slice(-2)} ?([ap]m)?`,
    ).exec(text);
  const parts = digits.padStart(digits.length + (digits.length % 2), "0").match(/\d\d/g) ?? [];
  const hour = Number(parts[0]);
  if (match === null || hour > 23 || parts.slice(1).some((part) => Number(part) > 59)) return "";
  const half = match[1];
  const onClock = half === undefined || hour > 12 ? hour : (hour % 12) + (half === "pm" ? 12 : 0);
  return [pad(onClock), ...parts.slice(1)].join(":");
}

function sumsIn(text: string): readonly { readonly digits: string; readonly form: string }[] {
  return [...text.matchAll(/\d[\d,]*(?:\.\d+)?/g)].map(([written]) => ({
    digits: written.replaceAll(/\D/g, ""),
    form: Number(written.replaceAll(",", "")).toFixed(2),
  }));
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}
