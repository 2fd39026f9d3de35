/** The differences of texts in an HTML report, as many as its bounds allow. */
import { compareWords, type Difference } from "../../../../gateway/web/difference.ts";

/** Differences of one report, and of one of its groups. */
const MAX_DIFFERENCES = 1_000;
export const GROUP_DIFFERENCES = 8;
/** Characters of all differing words. */
const MAX_CHARACTERS = 16 * 2 ** 20;

/** Compares while the report has space. */
export interface Differences {
  /** Undefined when the report is full; `"gone"` when a text cannot be read any more. */
  of(a: number, b: number): Difference | "gone" | undefined;
}

/** `text` is empty for a document that is gone. */
export function createDifferences(text: (number: number) => string): Differences {
  let compared = 0;
  let characters = 0;
  return {
    of(a, b) {
      if (compared >= MAX_DIFFERENCES || characters >= MAX_CHARACTERS) return undefined;
      const [left, right] = [text(a), text(b)];
      if (left === "" || right === "") return "gone";
      const difference = compareWords(left, right);
      compared += 1;
      characters += sizeOf(difference);
      return difference;
    },
  };
}

function sizeOf({ stretches }: Difference): number {
  return stretches.reduce(
    (sum, { same, left, right }) =>
      same ? sum : sum + [...left, ...right].reduce((size, word) => size + word.length + 1, 0),
    0,
  );
}
