/**
 * Digits of other scripts (Arabic-Indic, Persian, Devanagari, full-width …) as ASCII digits, with
 * the separators that are written between them: the patterns of tokens know ASCII only.
 */

const DIGIT = /\p{Nd}/u;
const ANY_OTHER = /[^\P{Nd}0-9]|[٫٬]/u;
/** Full-width punctuation belongs to a number only between full-width digits. */
const OTHER = /[^\P{Nd}0-9]|[٫٬]|(?<=[０-９])[．，／－：](?=[０-９])/gu;

const SEPARATORS: Readonly<Record<string, string>> = {
  "٫": ".",
  "٬": ",",
  "．": ".",
  "，": ",",
  "／": "/",
  "－": "-",
  "：": ":",
};

/** The text itself when it has no other digits. Positions may move: some digits have two units. */
export function withAsciiDigits(text: string): string {
  if (!ANY_OTHER.test(text)) return text;
  const known = new Map<string, string>();
  return text.replace(OTHER, (found) => {
    const mapped = known.get(found) ?? SEPARATORS[found] ?? String(valueOf(found));
    known.set(found, mapped);
    return mapped;
  });
}

/** Unicode has the digits of a script side by side from zero to nine, some scripts in a row. */
function valueOf(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let before = 0;
  while (DIGIT.test(String.fromCodePoint(code - before - 1))) before += 1;
  return before % 10;
}
