/**
 * The six sets of discriminative tokens of a text: what tells two documents of one layout apart.
 */

/** The categories in the order of the hashed form; the arithmetic adds them up in this order. */
export const CATEGORIES = [
  "dates",
  "times",
  "amounts",
  "identifiers",
  "references",
  "routes",
] as const;

/** One of the six categories. */
export type Category = (typeof CATEGORIES)[number];

/** Per category the tokens of a text, each once, in code-unit order. */
export type TokenSets = Readonly<Record<Category, readonly string[]>>;

/** How much a category counts in the discriminative score. */
export const WEIGHTS: Readonly<Record<Category, number>> = {
  dates: 3,
  times: 2,
  amounts: 2,
  identifiers: 2,
  references: 1,
  routes: 3,
};

/** A token and the stretch of text, in UTF-16 units, that it was read from. */
export interface Found {
  readonly token: string;
  readonly start: number;
  readonly end: number;
}

/** The tokens of `found`, each once, in code-unit order. */
export function distinctTokens(found: readonly Found[]): readonly string[] {
  return [...new Set(found.map((each) => each.token))].sort();
}

/** Every match of a global pattern that `read` makes a token of. */
export function collect(
  text: string,
  pattern: RegExp,
  read: (match: RegExpExecArray) => string | undefined,
): readonly Found[] {
  const found: Found[] = [];
  for (const match of text.matchAll(pattern)) {
    const token = read(match);
    if (token !== undefined)
      found.push({ token, start: match.index, end: match.index + match[0].length });
  }
  return found;
}

/**
 * A control character: neither letter, digit, space nor punctuation, so no pattern runs across it.
 */
export const CLAIMED = "\u0080";

/**
 * The text with each found stretch overwritten by {@link CLAIMED}; positions stay. `found` must not
 * overlap.
 */
export function withoutFound(text: string, found: readonly Found[]): string {
  if (found.length === 0) return text;
  const pieces: string[] = [];
  let at = 0;
  for (const { start, end } of found.toSorted((x, y) => x.start - y.start)) {
    pieces.push(text.slice(at, start), CLAIMED.repeat(end - start));
    at = end;
  }
  pieces.push(text.slice(at));
  return pieces.join("");
}
