/** Text as lines of a screen. */
import { displayWidth, lettersOf } from "../../report/text.ts";

/** The text in lines of at most `columns`, broken anywhere: nothing of a path is left out. */
export function breakAnywhere(text: string, columns: number): string[] {
  if (displayWidth(text) <= columns) return [text];
  const lines: string[] = [];
  let line = "";
  let width = 0;
  for (const letter of lettersOf(text)) {
    const own = displayWidth(letter);
    if (width + own > columns && line !== "") {
      lines.push(line);
      line = "";
      width = 0;
    }
    line += letter;
    width += own;
  }
  return [...lines, line];
}

/** A piece of text that is styled as a whole. */
export interface Piece {
  readonly text: string;
  readonly style: (text: string) => string;
}

/** Words after one another in lines of at most `columns`; a longer word is broken. */
export function flow(pieces: Iterable<Piece>, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  let width = 0;
  for (const { text, style } of pieces)
    for (const part of breakAnywhere(text, columns)) {
      const own = displayWidth(part);
      if (width > 0 && width + 1 + own > columns) {
        lines.push(line);
        line = "";
        width = 0;
      }
      line += `${width === 0 ? "" : " "}${style(part)}`;
      width += (width === 0 ? 0 : 1) + own;
    }
  return width === 0 ? lines : [...lines, line];
}
