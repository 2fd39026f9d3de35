/**
 * Which words of two texts differ. Words that occur once in both texts anchor the comparison
 * (patience difference); between anchors the shortest edit script is searched (Myers, 1986) up to a
 * limit, beyond which the whole stretch counts as replaced. Time and memory are bounded by the
 * limits for any texts.
 */

/** A stretch of both texts: the same words, or words that one side has instead of the other's. */
export interface Stretch {
  readonly same: boolean;
  /** Words of the left text; for equal stretches also the right text's, but for white space. */
  readonly left: readonly string[];
  readonly right: readonly string[];
}

/** What differs, in order. */
export interface Difference {
  /** Equal and different stretches in turn. */
  readonly stretches: readonly Stretch[];
  /** Whether only the first words of a text were compared. */
  readonly truncated: boolean;
}

/** Words compared of each text. */
const COMPARED_WORDS = 20_000;
/** Edits searched for between two anchors; more count as one replacement. */
const MAX_EDITS = 256;

/** Compares texts word by word. White space does not count. */
export function compareWords(left: string, right: string, limit = COMPARED_WORDS): Difference {
  const [a, b] = [wordsOf(left, limit), wordsOf(right, limit)];
  const ids = new Map<string, number>();
  const numbered = (words: readonly string[]): Uint32Array =>
    Uint32Array.from(words, (word) => {
      const id = ids.get(word) ?? ids.size;
      ids.set(word, id);
      return id;
    });
  const matches: Match[] = [];
  matchRange(numbered(a.words), numbered(b.words), matches);
  return {
    stretches: stretchesOf(a.words, b.words, matches),
    truncated: a.truncated || b.truncated,
  };
}

/** Equal words at the same distance in both texts. */
interface Match {
  readonly left: number;
  readonly right: number;
  readonly length: number;
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly fromRight: number;
  readonly toRight: number;
}

function wordsOf(
  text: string,
  limit: number,
): { readonly words: readonly string[]; readonly truncated: boolean } {
  const words: string[] = [];
  for (const [word] of text.matchAll(/\S+/g)) {
    if (words.length === limit) return { words, truncated: true };
    words.push(word);
  }
  return { words, truncated: false };
}

/** Appends the matches of two whole texts in order. */
function matchRange(a: Uint32Array, b: Uint32Array, matches: Match[]): void {
  const [start, end] = commonEnds(a, b, {
    from: 0,
    to: a.length,
    fromRight: 0,
    toRight: b.length,
  });
  add(matches, { left: 0, right: 0, length: start });
  const middle = { from: start, to: a.length - end, fromRight: start, toRight: b.length - end };
  let at = { left: middle.from, right: middle.fromRight };
  for (const anchor of [
    ...anchorsOf(a, b, middle),
    { left: middle.to, right: middle.toRight, length: 0 },
  ]) {
    matchGap(
      a,
      b,
      { from: at.left, to: anchor.left, fromRight: at.right, toRight: anchor.right },
      matches,
    );
    add(matches, anchor);
    at = { left: anchor.left + anchor.length, right: anchor.right + anchor.length };
  }
  add(matches, { left: a.length - end, right: b.length - end, length: end });
}

/** Lengths of the common beginning and the common end of a range. */
function commonEnds(a: Uint32Array, b: Uint32Array, range: Range): readonly [number, number] {
  const { from, to, fromRight, toRight } = range;
  const most = Math.min(to - from, toRight - fromRight);
  let start = 0;
  while (start < most && a[from + start] === b[fromRight + start]) start++;
  let end = 0;
  while (end < most - start && a[to - 1 - end] === b[toRight - 1 - end]) end++;
  return [start, end];
}

/** Joins what continues the match before. */
function add(matches: Match[], match: Match): void {
  if (match.length === 0) return;
  const last = matches.at(-1);
  if (
    last !== undefined &&
    last.left + last.length === match.left &&
    last.right + last.length === match.right
  )
    matches[matches.length - 1] = { ...last, length: last.length + match.length };
  else matches.push(match);
}

/** Words that occur once on each side and stand in the same order: the longest such sequence. */
function anchorsOf(a: Uint32Array, b: Uint32Array, range: Range): Match[] {
  const left = singles(a, range.from, range.to);
  const right = singles(b, range.fromRight, range.toRight);
  const pairs: Match[] = [];
  for (const [word, at] of left) {
    const other = right.get(word);
    if (at >= 0 && other !== undefined && other >= 0)
      pairs.push({ left: at, right: other, length: 1 });
  }
  return longestIncreasing(pairs.sort((one, other) => one.left - other.left));
}

/** Where each word of a range stands; -1 for one that occurs again. */
function singles(words: Uint32Array, from: number, to: number): Map<number, number> {
  const found = new Map<number, number>();
  for (let at = from; at < to; at++) {
    const word = words[at] ?? 0;
    found.set(word, found.has(word) ? -1 : at);
  }
  return found;
}

/** Patience sorting by the right side. */
function longestIncreasing(pairs: readonly Match[]): Match[] {
  const piles: number[] = [];
  const before: number[] = [];
  const rightOf = (index: number | undefined): number => pairs[index ?? 0]?.right ?? 0;
  for (const [index, pair] of pairs.entries()) {
    let [low, high] = [0, piles.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rightOf(piles[middle]) < pair.right) low = middle + 1;
      else high = middle;
    }
    before[index] = low === 0 ? -1 : (piles[low - 1] ?? -1);
    piles[low] = index;
  }
  const sequence: Match[] = [];
  for (let at = piles.at(-1) ?? -1; at >= 0; at = before[at] ?? -1) {
    const pair = pairs[at];
    if (pair !== undefined) sequence.push(pair);
  }
  return sequence.toReversed();
}

/** Matches between two anchors. */
function matchGap(a: Uint32Array, b: Uint32Array, gap: Range, matches: Match[]): void {
  const [start, end] = commonEnds(a, b, gap);
  add(matches, { left: gap.from, right: gap.fromRight, length: start });
  const inner = {
    from: gap.from + start,
    to: gap.to - end,
    fromRight: gap.fromRight + start,
    toRight: gap.toRight - end,
  };
  if (inner.from < inner.to && inner.fromRight < inner.toRight)
    for (const match of shortestEdit(a, b, inner)) add(matches, match);
  add(matches, { left: gap.to - end, right: gap.toRight - end, length: end });
}

/** The matches of a shortest edit script; none when it needs more edits than the limit. */
function shortestEdit(a: Uint32Array, b: Uint32Array, range: Range): Match[] {
  const [rows, columns] = [range.to - range.from, range.toRight - range.fromRight];
  const most = Math.min(rows + columns, MAX_EDITS);
  const furthest = new Int32Array(2 * most + 3);
  const history: Int32Array[] = [];
  for (let edits = 0; edits <= most; edits++) {
    history.push(furthest.slice());
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = startOf(furthest, most, edits, diagonal);
      while (
        x < rows &&
        x - diagonal < columns &&
        a[range.from + x] === b[range.fromRight + x - diagonal]
      )
        x++;
      furthest[most + 1 + diagonal] = x;
      if (x >= rows && x - diagonal >= columns)
        return walkBack(history, most, range, [rows, columns]);
    }
  }
  return [];
}

/** Where a diagonal begins: one word further down or right than its better neighbour. */
function startOf(furthest: Int32Array, most: number, edits: number, diagonal: number): number {
  const below = furthest[most + diagonal] ?? 0;
  const above = furthest[most + 2 + diagonal] ?? 0;
  return diagonal === -edits || (diagonal !== edits && below < above) ? above : below + 1;
}

function walkBack(
  history: readonly Int32Array[],
  most: number,
  { from, fromRight }: Range,
  end: readonly [number, number],
): Match[] {
  const matches: Match[] = [];
  let [x, y] = end;
  for (let edits = history.length - 1; edits >= 0; edits--) {
    const furthest = history[edits] as Int32Array;
    const diagonal = x - y;
    const start = edits === 0 ? 0 : startOf(furthest, most, edits, diagonal);
    if (x > start)
      matches.push({ left: from + start, right: fromRight + start - diagonal, length: x - start });
    const below = furthest[most + diagonal] ?? 0;
    const above = furthest[most + 2 + diagonal] ?? 0;
    const isDown = diagonal === -edits || (diagonal !== edits && below < above);
    x = isDown ? above : below;
    y = x - (isDown ? diagonal + 1 : diagonal - 1);
  }
  return matches.toReversed();
}

function stretchesOf(
  left: readonly string[],
  right: readonly string[],
  matches: readonly Match[],
): Stretch[] {
  const stretches: Stretch[] = [];
  let at = { left: 0, right: 0 };
  for (const match of [...matches, { left: left.length, right: right.length, length: 0 }]) {
    if (match.left > at.left || match.right > at.right)
      stretches.push({
        same: false,
        left: left.slice(at.left, match.left),
        right: right.slice(at.right, match.right),
      });
    at = { left: match.left + match.length, right: match.right + match.length };
    if (match.length > 0)
      stretches.push({
        same: true,
        left: left.slice(match.left, at.left),
        right: right.slice(match.right, at.right),
      });
  }
  return stretches;
}
