/**
 * Foreign text on its way to a terminal: what would move the cursor, change colours or reverse the
 * line is shown as an escape.
 */

// Control characters, halves of surrogate pairs, line separators, and marks that change the
// direction of text.
const DANGEROUS = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** The text on one line, with `\n`, `\t`, `\u001b` … in place of what a terminal would obey. */
export function printable(text: string): string {
  return text.replaceAll(
    DANGEROUS,
    (unit) => SHORT[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
