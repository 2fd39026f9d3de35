/** Rows of CSV (RFC 4180) for spreadsheets. */

/** At the head of a file: spreadsheets then read it as UTF-8. */
export const BYTE_ORDER_MARK = "\uFEFF";

/** A spreadsheet would read a text that begins so as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

export type Cell = string | number | boolean | undefined;

/** One row with its CRLF. What is undefined or not a number is empty; a formula gets an apostrophe. */
export function csvRow(cells: readonly Cell[]): string {
  return `${cells.map(format).join(",")}\r\n`;
}

// Numbers are written in full and need no guard: none begins with a sign.
function format(cell: Cell): string {
  if (cell === undefined || Number.isNaN(cell)) return "";
  if (typeof cell !== "string") return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
