/**
 * Makes foreign text safe for a terminal: escapes whatever would move the cursor, change colours or
 * reverse the line.
 */

// Control characters, lone surrogates, line separators and bidirectional control characters.
const DANGEROUS = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/**
 * The text on one line, with `
 * `, `\t`, `\u001b` … for control characters.
 */
export function printable(text: string): string {
  return text.replaceAll(
    DANGEROUS,
    (unit) => SHORT[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
