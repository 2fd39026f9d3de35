/**
 * Levenshtein distance on UTF-16 code units, bit-parallel and banded.
 *
 * Rows are the units of the shorter text, columns those of the longer. The rows are cut into blocks
 * of 32; a block is one machine word of vertical differences that walks over the columns, and hands
 * the horizontal differences along its lower edge to the next block. Per block only the columns
 * within the band that a distance of at most `limit` can touch are visited; differences outside of
 * it are taken as +1, which can only make a result too large, never too small.
 *
 *          columns →                    memory: one byte a column, one table of 65,536 words a thread
 *   block 0  ▓▓▓▓▓▓                     time:   rows / 32 × (32 + band) steps block 1    ▓▓▓▓▓▓▓▓
 *   block 2        ▓▓▓▓▓▓▓▓
 *
 * Sources: Myers 1999 (bit vectors), Hyyrö 2003 (blocks, differences as words), Ukkonen 1985
 * (band).
 */

const BLOCK = 32;
/**
 * The first band tried; the band grows fourfold until the distance fits, so the cost follows the
 * true distance.
 */
const FIRST_LIMIT = 64;
const UP = 1;
const DOWN = 2;

/**
 * Bit i is set for a unit that occurs in row i of the block at hand; all zero between two blocks.
 */
const occurrences = new Int32Array(65_536);

/**
 * The least number of insertions, deletions and substitutions of single code units that turn `a`
 * into `b`. Exact when it is at most `limit`; else -1. Time grows with (shorter length / 32) ×
 * min(limit, 4 × distance).
 */
export function editDistance(
  a: string,
  b: string,
  limit: number = Number.POSITIVE_INFINITY,
): number {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  const from = commonPrefix(short, long);
  const tail = commonSuffix(short, long, from);
  const rows = unitsOf(short, from, short.length - tail);
  const columns = unitsOf(long, from, long.length - tail);
  const widest = Math.min(Math.floor(limit), columns.length);
  const difference = columns.length - rows.length;
  if (difference > widest) return -1;
  if (rows.length === 0) return difference;
  // Ends once the band is `widest`: at most log4(columns) rounds, each four times the work of the
  // one before.
  for (let band = Math.min(widest, difference + FIRST_LIMIT); ; band = Math.min(widest, band * 4)) {
    const distance = bandedDistance(rows, columns, band);
    if (distance <= band) return distance;
    if (band === widest) return -1;
  }
}

/** The distance if it is at most `limit`, else any number above `limit`. */
function bandedDistance(rows: Uint16Array, columns: Uint16Array, limit: number): number {
  const slack = (limit - (columns.length - rows.length)) >> 1;
  const differences = new Uint8Array(columns.length).fill(UP);
  let corner = 0;
  for (let top = 0; top < rows.length; top += BLOCK) {
    const bottom = Math.min(top + BLOCK, rows.length);
    const first = Math.max(0, top - slack);
    const end = Math.min(columns.length, bottom + (columns.length - rows.length) + slack);
    // The next block begins at column `next`: the value under the column before it is that block's
    // corner.
    const next = bottom === rows.length ? end : Math.max(0, bottom - slack);
    mark(rows, top, bottom);
    const { least, atNext } = walkBlock(columns, differences, first, end, bottom - top, next);
    unmark(rows, top, bottom);
    if (corner + least > limit) return limit + 1;
    corner += atNext;
  }
  return corner;
}

/**
 * Moves one block of `height` rows over the columns `first` to `end`, replacing the differences
 * above it by those along its lower edge. Answers, relative to the block's upper left corner, the
 * least value of that edge and the value just before column `next`.
 */
function walkBlock(
  columns: Uint16Array,
  differences: Uint8Array,
  first: number,
  end: number,
  height: number,
  next: number,
): { readonly least: number; readonly atNext: number } {
  const shift = height - 1;
  let plus = -1;
  let minus = 0;
  let value = height;
  let least = height;
  let atNext = height;
  for (let column = first; column < end; column++) {
    const above = differences[column] ?? UP;
    const equal = occurrences[columns[column] ?? 0] ?? 0;
    const vertical = equal | minus;
    const matched = equal | (above >>> 1);
    const horizontal = (((matched & plus) + plus) ^ plus) | matched;
    let rise = minus | ~(horizontal | plus);
    let fall = plus & horizontal;
    const up = (rise >>> shift) & 1;
    const down = (fall >>> shift) & 1;
    differences[column] = up | (down << 1);
    value += up - down;
    if (value < least) least = value;
    if (column + 1 === next) atNext = value;
    rise = (rise << 1) | (above & UP);
    fall = (fall << 1) | ((above & DOWN) >>> 1);
    plus = fall | ~(vertical | rise);
    minus = rise & vertical;
  }
  return { least, atNext };
}

function mark(rows: Uint16Array, top: number, bottom: number): void {
  for (let row = top; row < bottom; row++) {
    const unit = rows[row] ?? 0;
    occurrences[unit] = (occurrences[unit] ?? 0) | (1 << (row - top));
  }
}

function unmark(rows: Uint16Array, top: number, bottom: number): void {
  for (let row = top; row < bottom; row++) occurrences[rows[row] ?? 0] = 0;
}

function commonPrefix(short: string, long: string): number {
  let length = 0;
  while (length < short.length && short.charCodeAt(length) === long.charCodeAt(length)) length++;
  return length;
}

function commonSuffix(short: string, long: string, prefix: number): number {
  let length = 0;
  while (
    length < short.length - prefix &&
    short.charCodeAt(short.length - 1 - length) === long.charCodeAt(long.length - 1 - length)
  )
    length++;
  return length;
}

function unitsOf(text: string, from: number, to: number): Uint16Array {
  const units = new Uint16Array(to - from);
  for (let index = from; index < to; index++) units[index - from] = text.charCodeAt(index);
  return units;
}
