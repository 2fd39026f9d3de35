/** The difference of two texts as lines for a terminal: `[-gone-]`, `{+new+}`, long equal stretches cut. */
import { compareWords } from "../../../../gateway/web/difference.ts";
import type { Stretch } from "../../../../gateway/web/difference.ts";
import { printable } from "../../../kernel/base/text/printable.ts";
import { formatCount } from "../../report/text.ts";
import { flow } from "./lines.ts";
import type { Piece } from "./lines.ts";
import type { Style } from "./style.ts";

/** Words shown on each side of a difference. */
const CONTEXT_WORDS = 12;
/** Words shown of one difference. */
const STRETCH_WORDS = 400;

/** What one text has instead of the other's, with some words around it. */
export function differenceLines(
  kept: string,
  other: string,
  { columns, style }: { readonly columns: number; readonly style: Style },
): string[] {
  const { stretches, truncated } = compareWords(kept, other);
  if (stretches.every(({ same }) => same))
    return [truncated ? "No difference in the words that were compared." : "The same words."];
  const pieces = stretches.flatMap((stretch, at) =>
    stretch.same
      ? sameWords(stretch.left, at === 0, at === stretches.length - 1, style)
      : differingWords(stretch, style),
  );
  const lines = flow(pieces, columns);
  return truncated ? [...lines, "", "Only the first words of the texts were compared."] : lines;
}

function sameWords(
  words: readonly string[],
  isFirst: boolean,
  isLast: boolean,
  { faint }: Style,
): Piece[] {
  const [before, after] = [isFirst ? 0 : CONTEXT_WORDS, isLast ? 0 : CONTEXT_WORDS];
  const left = words.length - before - after;
  if (left <= CONTEXT_WORDS) return plain(words);
  const cut = { text: `…(${formatCount(left)} equal words)…`, style: faint };
  return [...plain(words.slice(0, before)), cut, ...plain(after === 0 ? [] : words.slice(-after))];
}

function differingWords({ left, right }: Stretch, { added, removed }: Style): Piece[] {
  return [...marked(left, ["[-", "-]"], removed), ...marked(right, ["{+", "+}"], added)];
}

function marked(
  words: readonly string[],
  [open, close]: readonly [string, string],
  style: Piece["style"],
): Piece[] {
  if (words.length === 0) return [];
  const shown = words.slice(0, STRETCH_WORDS).map(printable);
  const more = words.length - shown.length;
  if (more > 0) shown.push(`…(${formatCount(more)} more words)…`);
  shown[0] = `${open}${shown[0] ?? ""}`;
  shown[shown.length - 1] += close;
  return shown.map((text) => ({ text, style }));
}

function plain(words: readonly string[]): Piece[] {
  return words.map((word) => ({ text: printable(word), style: (text) => text }));
}
