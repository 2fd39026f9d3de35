/**
 * The last lines of a report for people: what was read, what was left out and why, what was found
 * and how fast.
 */
import { printable } from "../../kernel/base/text/printable.ts";
import { counted, formatCount, formatElapsed, formatMemory } from "./text.ts";
import type { ReportSummary, WrittenFile } from "./types.ts";

/** Notes beyond these are only counted; `--json` has all that were kept. */
const MAX_NOTES = 20;

/** The summary as text: notes first, files that were written last. */
export function formatSummary(
  summary: ReportSummary,
  written: readonly WrittenFile[] = [],
): string {
  // What is listed by name needs no note beside it.
  const named = new Set(summary.skippedItems?.map(({ id, detail }) => `${id}: ${detail}`));
  const worth = summary.notes.filter((note) => !named.has(note));
  const shown = worth.slice(0, MAX_NOTES).map((note) => `note: ${printable(note)}`);
  const more = worth.length - shown.length;
  const notes = more > 0 ? [...shown, `note: and ${counted(more, "more note")}`] : shown;
  const perSecond =
    summary.documentsPerSecond < 10
      ? summary.documentsPerSecond.toFixed(1)
      : formatCount(summary.documentsPerSecond);
  const listed = (summary.skippedItems ?? []).map(
    ({ id, reason, detail }) =>
      `skipped (${printable(reason)}): ${printable(reason === detail ? id : `${id}: ${detail}`)}`,
  );
  return `${[
    ...listed,
    ...notes,
    `${counted(summary.documents, "document")}, ${describeSkipped(summary.skipped)}`,
    `${counted(summary.pairs, "pair")} in ${counted(summary.groups, "group")}`,
    `${perSecond} documents per second (${formatElapsed(summary.durationMs)}), peak memory ${formatMemory(summary.peakMemoryBytes)}`,
    ...written.map(({ path, holds }) => `wrote ${printable(path)}: ${holds}`),
  ].join("\n")}\n`;
}

function describeSkipped(skipped: ReportSummary["skipped"]): string {
  const reasons = Object.entries(skipped)
    .filter(([, count]) => count > 0)
    .toSorted(([, a], [, b]) => b - a);
  if (reasons.length === 0) return "none skipped";
  const total = reasons.reduce((sum, [, count]) => sum + count, 0);
  return `${formatCount(total)} skipped: ${reasons.map(([reason, count]) => `${formatCount(count)} ${printable(reason)}`).join(", ")}`;
}
