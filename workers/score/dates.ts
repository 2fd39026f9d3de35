/**
 * Dates, each in one form however it is written: `2024-03-14`, or `2024-03` when no day is given. A
 * numeric date whose day and month could be swapped keeps the order it is written in, as
 * `03/04/2024`; with full stops the day is first. docs/decisions/discriminative-tokens.md says why.
 */
import { anyOf, MONTHS } from "./labels.ts";
import { collect, withoutFound, type Found } from "./token-sets.ts";

const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
/** Two-digit years from here on belong to the twentieth century, as in POSIX. */
const CENTURY_TURN = 69;

const MONTH = `(${anyOf(MONTHS.keys())})`;
const ORDINAL = "(?:st|nd|rd|th|er|\\.)?";
const NUMERIC =
  /(?<![\p{L}\d]|\d:)(\d{4}|\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{1,2})(?!\d|\2\d)(?=t\d\d:|[^\p{L}]|$)/gu;
const DAY_MONTH_YEAR = new RegExp(
  `(?<![\\p{L}\\d]|\\d[:.])(\\d{1,2})${ORDINAL}[\\s\\-/.]{1,3}(?:of |de )?${MONTH}(?:[\\s\\-/.,]{0,3}(\\d{4})|[\\-/.'](\\d{2}))(?![\\p{L}\\d])`,
  "gu",
);
const MONTH_DAY_YEAR = new RegExp(
  `(?=\\d)(?<=(?<![\\p{L}\\d])${MONTH}[\\s.\\-/']{0,2})(?:(\\d{1,2})${ORDINAL}[\\s,]{1,2})?(\\d{4})(?![\\p{L}\\d])`,
  "gu",
);

/** The dates of a lower-case text, in no particular order; their stretches do not overlap. */
export function findDates(text: string): readonly Found[] {
  const numeric = collect(text, NUMERIC, (match) => numericDate(text, match));
  const afterNumeric = withoutFound(text, numeric);
  const dayFirst = collect(afterNumeric, DAY_MONTH_YEAR, ([, day, month, year, short]) =>
    isoDate(fullYear(year ?? short), MONTHS.get(month ?? ""), Number(day)),
  );
  const monthFirst = collect(
    withoutFound(afterNumeric, dayFirst),
    MONTH_DAY_YEAR,
    ([, month, day, year]) =>
      isoDate(Number(year), MONTHS.get(month ?? ""), day === undefined ? undefined : Number(day)),
  );
  return [...numeric, ...dayFirst, ...monthFirst];
}

function numericDate(text: string, match: RegExpExecArray): string | undefined {
  const [, first = "", separator = "", middle = "", last = ""] = match;
  // Part of a longer number such as an address 10.0.0.12 or a code 7-1-2-2024.
  if (text[match.index - 1] === separator && /[\p{L}\d]/u.test(text[match.index - 2] ?? ""))
    return undefined;
  if (first.length === 4)
    return last.length <= 2 ? isoDate(Number(first), Number(middle), Number(last)) : undefined;
  if (last.length === 1) return undefined;
  const year = fullYear(last);
  const dayFirst = isoDate(year, Number(middle), Number(first));
  const monthFirst = isoDate(year, Number(first), Number(middle));
  if (
    separator === "." ||
    dayFirst === undefined ||
    monthFirst === undefined ||
    dayFirst === monthFirst
  ) {
    return dayFirst ?? monthFirst;
  }
  return `${two(Number(first))}/${two(Number(middle))}/${year}`;
}

function isoDate(
  year: number,
  month: number | undefined,
  day: number | undefined,
): string | undefined {
  const days = DAYS[(month ?? 0) - 1];
  if (month === undefined || days === undefined || year < 1000 || year > 2999) return undefined;
  if (day === undefined) return `${year}-${two(month)}`;
  return day >= 1 && day <= days ? `${year}-${two(month)}-${two(day)}` : undefined;
}

function fullYear(digits: string | undefined): number {
  const year = Number(digits);
  if (digits?.length !== 2) return year;
  return year < CENTURY_TURN ? 2000 + year : 1900 + year;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
