/** Tables and times for a terminal. */
import { printable } from "../../kernel/base/text/printable.ts";
import { displayWidth } from "../report/text.ts";

/** A column; figures are aligned to the right. */
export interface Column {
  readonly head: string;
  readonly figures?: true;
}

const GAP = "  ";

/**
 * Lines of a table with its heads; what comes from outside is made printable. A last column is not
 * padded, so that it may be long.
 */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): string[] {
  const cells = [columns.map(({ head }) => head), ...rows.map((row) => row.map(printable))];
  const widths = columns.map((_, at) =>
    Math.max(...cells.map((row) => displayWidth(row[at] ?? ""))),
  );
  return cells.map((row) =>
    columns
      .map(({ figures }, at) => {
        const text = row[at] ?? "";
        const room = " ".repeat((widths[at] ?? 0) - displayWidth(text));
        return figures ? room + text : text + room;
      })
      .join(GAP)
      .trimEnd(),
  );
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** A span without a sign: `42 s`, `5 min`, `3 h`, `12 days`. */
function formatSpan(ms: number): string {
  const span = Math.abs(ms);
  if (span < MINUTE_MS) return `${Math.round(span / 1_000)} s`;
  if (span < HOUR_MS) return `${Math.round(span / MINUTE_MS)} min`;
  if (span < 2 * DAY_MS) return `${Math.round(span / HOUR_MS)} h`;
  return `${Math.round(span / DAY_MS)} days`;
}

/** `5 min ago`, `in 3 h`; `never` for nothing. */
export function formatWhen(time: string | null | undefined, nowMs: number): string {
  const at = time === null || time === undefined ? NaN : Date.parse(time);
  if (Number.isNaN(at)) return "never";
  return at > nowMs ? `in ${formatSpan(at - nowMs)}` : `${formatSpan(nowMs - at)} ago`;
}
