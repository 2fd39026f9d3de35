/**
 * Finds where the values of a text begin and end without parsing them, checking its grammar, in
 * slices.
 */
import { StewardError } from "../../../kernel/base/errors.ts";
import { JsonScanner } from "../../../kernel/json/scanner.ts";
import { MAX_CONNECTIONS, MAX_RECORDS } from "./limits.ts";
import type { Turns } from "../../../kernel/async/turns.ts";

/** Bytes from `from` to before `to`. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A value inside of another. */
export interface Part extends Span {
  /** In an object: where its name is, quotes included. */
  readonly name: Span | undefined;
}

/** Deeper texts are refused; the scanner holds five bytes for each level. */
const MAX_DEPTH = 5_000;
/** Elements of one list and values of the text: no valid body has more of either. */
const MAX_ELEMENTS = Math.max(MAX_RECORDS, MAX_CONNECTIONS);
/** Levels within which the name of a list is remembered. */
const NAMED_DEPTH = 16;
/** Bytes scanned between two looks at the clock: well below a millisecond. */
const STEP_BYTES = 128 * 1024;

/**
 * The values of a concatenated text, or the elements or members of a single value, in order. Throws
 * StewardError `invalid` or `too_large` where the text is not JSON or nested too deep.
 */
export async function* parts(
  text: Uint8Array,
  { from, to }: Span,
  of: "concatenated" | "children",
  { turns, signal }: { readonly turns: Turns; readonly signal: AbortSignal },
): AsyncGenerator<readonly Part[], void, undefined> {
  const scanner = new JsonScanner({
    budget: { bytes: to, depth: MAX_DEPTH, stringBytes: to, elements: MAX_ELEMENTS },
    concatenated: of === "concatenated",
  });
  const level = of === "concatenated" ? 0 : 1;
  scanner.watch = level;
  let beginsAt = 0;
  let nameFrom = 0;
  let name: Span | undefined;
  for (let at = from; at < to;) {
    if (turns.over) await turns.give(signal);
    const piece = text.subarray(0, Math.min(to, at + STEP_BYTES));
    const found: Part[] = [];
    while (at < piece.length) {
      at = scanner.scan(piece, at, 0);
      if (scanner.event === "none" || scanner.depth !== level) continue;
      if (scanner.event === "name-begin") nameFrom = at;
      else if (scanner.event === "name-end") name = { from: nameFrom, to: at };
      else if (scanner.event === "value-begin") beginsAt = at;
      else {
        found.push({ from: beginsAt, to: at, name });
        name = undefined;
      }
    }
    if (found.length > 0) yield found;
  }
  if (scanner.finish(to)) yield [{ from: beginsAt, to, name }];
}

/**
 * The name of the list in which the scan of a text found too many elements; undefined for a list
 * without a name.
 */
export async function nameOfLongList(
  text: Buffer,
  { from, to }: Span,
  { turns, signal }: { readonly turns: Turns; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const scanner = new JsonScanner({
    budget: { bytes: to, depth: MAX_DEPTH, stringBytes: to, elements: MAX_ELEMENTS },
    concatenated: true,
  });
  scanner.watch = NAMED_DEPTH;
  /** By the depth of the object that has it. */
  const names: (Span | undefined)[] = [];
  let nameFrom = 0;
  try {
    for (let at = from; at < to;) {
      if (turns.over) await turns.give(signal);
      const piece = text.subarray(0, Math.min(to, at + STEP_BYTES));
      while (at < piece.length) {
        at = scanner.scan(piece, at, 0);
        const { depth, event } = scanner;
        if (event === "name-begin") nameFrom = at;
        else if (event === "name-end") names[depth] = { from: nameFrom, to: at };
        else if (event === "value-end") names[depth] = undefined;
      }
    }
  } catch (thrown) {
    if (!(thrown instanceof StewardError)) throw thrown;
  }
  const name = names[scanner.depth - 1];
  return name && text.toString("utf8", name.from + 1, Math.min(name.to - 1, name.from + 64));
}
