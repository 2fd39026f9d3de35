/**
 * Levenshtein distance of UTF-16 code units, bit-parallel and banded.
 *
 * Rows are the units of the shorter text, columns those of the longer. A stripe is 128 rows: two
 * machine words of vertical differences that walk over the columns, the lower one a column behind
 * the upper, so that the processor works on both at once. A stripe hands the horizontal differences
 * along its lower edge to the next. After each stripe the columns are trimmed to those from which
 * the last cell can still be reached within the limit; differences outside are taken as +1, which
 * can only make a result too large, never too small.
 *
 * Sources: Myers 1999 (bit vectors), Hyyrö 2003 (blocks, differences as words), Ukkonen 1985
 * (band).
 */
import { COLUMNS, DIFFERENCES, OCCURRENCES, ROWS } from "./layout";

const STRIPE: i32 = 128;
const HALF: i32 = 64;
const UP: u8 = 1;
/** The band grows by this factor until the distance fits. */
const GROWTH: i32 = 4;

/**
 * The distance of the `rows` units at ROWS from the `columns` units at COLUMNS, rows ≤ columns, if
 * it is at most `limit`; else -1. `first` is the band tried first: a known upper bound, or a guess.
 */
export function distance(rows: i32, columns: i32, limit: i32, first: i32): i32 {
  let from: usize = 0;
  const most = (<usize>rows) << 1;
  while (from < most && load<u16>(ROWS + from) == load<u16>(COLUMNS + from)) from += 2;
  const skipped = <i32>(from >> 1);
  rows -= skipped;
  columns -= skipped;
  const top = ROWS + from;
  const left = COLUMNS + from;
  while (
    rows > 0 &&
    load<u16>(top + ((<usize>(rows - 1)) << 1)) == load<u16>(left + ((<usize>(columns - 1)) << 1))
  ) {
    rows -= 1;
    columns -= 1;
  }
  limit = min(limit, columns);
  const difference = columns - rows;
  if (difference > limit) return -1;
  if (rows == 0) return difference;
  let band = min(limit, max(first, difference));
  while (true) {
    const found = banded(top, rows, left, columns, band);
    if (found <= band) return found;
    if (band == limit) return -1;
    band = band >= limit / GROWTH ? limit : max(band, 16) * GROWTH;
  }
}

/** The distance if it is at most `limit`, else any number above `limit`. */
function banded(rowsAt: usize, rows: i32, columnsAt: usize, columns: i32, limit: i32): i32 {
  const missing = limit + 1;
  const difference = columns - rows;
  // Position p is the edge after p columns. `corner` is the value at position `first` above the
  // stripe, `lead` the greatest p - value there.
  let first = 0;
  let corner = 0;
  let lead = 0;
  let previousEnd = 0;
  for (let top = 0; top < rows; top += STRIPE) {
    const bottom = min(top + STRIPE, rows);
    const end = min(columns, bottom + ((limit + lead - top + difference) >> 1));
    if (end < first || (bottom == rows && end < columns)) return missing;
    if (end > previousEnd)
      memory.fill(DIFFERENCES + <usize>previousEnd, UP, <usize>(end - previousEnd));
    previousEnd = end;
    walk(rowsAt, top, bottom, columnsAt, first, end);
    let value = corner + (bottom - top);
    let position = first;
    const slope = difference + bottom;
    // Trim the left: the first position from which the end is within reach.
    while (value + abs(slope - position) > limit) {
      if (position == end) return missing;
      value += rise(position);
      position += 1;
    }
    first = position;
    corner = value;
    lead = position - value;
    while (position < end) {
      value += rise(position);
      position += 1;
      if (position - value > lead && value + abs(slope - position) <= limit)
        lead = position - value;
    }
    if (bottom == rows) return value;
  }
  return missing;
}

/** Value after a column less the value before it, along the edge walked last. */
function rise(column: i32): i32 {
  const difference = <i32>load<u8>(DIFFERENCES + <usize>column);
  return (difference & 1) - (difference >> 1);
}

/** Moves the stripe of rows `top` to `bottom` over the columns `first` to `end`. */
function walk(rowsAt: usize, top: i32, bottom: i32, columnsAt: usize, first: i32, end: i32): void {
  mark(rowsAt, top, bottom);
  if (first < end) {
    if (bottom - top <= HALF) walkOne(columnsAt, first, end, bottom - top);
    else walkTwo(columnsAt, first, end, bottom - top - HALF);
  }
  unmark(rowsAt, top, bottom);
}

function mark(rowsAt: usize, top: i32, bottom: i32): void {
  for (let row = top; row < bottom; row += 1) {
    const within = row - top;
    const address = occurrencesOf(rowsAt, row) + ((<usize>(within >> 6)) << 3);
    store<u64>(address, load<u64>(address) | ((<u64>1) << (<u64>(within & 63))));
  }
}

function unmark(rowsAt: usize, top: i32, bottom: i32): void {
  for (let row = top; row < bottom; row += 1)
    v128.store(occurrencesOf(rowsAt, row), i64x2.splat(0));
}

function occurrencesOf(textAt: usize, index: i32): usize {
  return OCCURRENCES + ((<usize>load<u16>(textAt + ((<usize>index) << 1))) << 4);
}

/** One word of `height` rows. */
function walkOne(columnsAt: usize, first: i32, end: i32, height: i32): void {
  const last = <u64>(height - 1);
  let plus: u64 = ~(<u64>0);
  let minus: u64 = 0;
  for (let column = first; column < end; column += 1) {
    const above = <u64>load<u8>(DIFFERENCES + <usize>column);
    const equal = load<u64>(occurrencesOf(columnsAt, column));
    const vertical = equal | minus;
    const matched = equal | (above >> 1);
    const horizontal = (((matched & plus) + plus) ^ plus) | matched;
    const up = minus | ~(horizontal | plus);
    const down = plus & horizontal;
    store<u8>(DIFFERENCES + <usize>column, <u8>(((up >> last) & 1) | (((down >> last) & 1) << 1)));
    const shiftedUp = (up << 1) | (above & 1);
    plus = (down << 1) | (above >> 1) | ~(vertical | shiftedUp);
    minus = shiftedUp & vertical;
  }
}

/** Two words: 64 rows, and `height` rows below them, one column behind. */
function walkTwo(columnsAt: usize, first: i32, end: i32, height: i32): void {
  const last = <u64>(height - 1);
  let plus: u64 = ~(<u64>0);
  let minus: u64 = 0;
  let lowerPlus: u64 = ~(<u64>0);
  let lowerMinus: u64 = 0;
  // What the upper word handed down in the column before.
  let handed: u64 = 0;
  let lowerEqual: u64 = 0;
  for (let column = first; column <= end; column += 1) {
    if (column > first) {
      const above = handed;
      const vertical = lowerEqual | lowerMinus;
      const matched = lowerEqual | (above >> 1);
      const horizontal = (((matched & lowerPlus) + lowerPlus) ^ lowerPlus) | matched;
      const up = lowerMinus | ~(horizontal | lowerPlus);
      const down = lowerPlus & horizontal;
      store<u8>(
        DIFFERENCES + <usize>(column - 1),
        <u8>(((up >> last) & 1) | (((down >> last) & 1) << 1)),
      );
      const shiftedUp = (up << 1) | (above & 1);
      lowerPlus = (down << 1) | (above >> 1) | ~(vertical | shiftedUp);
      lowerMinus = shiftedUp & vertical;
      if (column == end) break;
    }
    const above = <u64>load<u8>(DIFFERENCES + <usize>column);
    const address = occurrencesOf(columnsAt, column);
    const equal = load<u64>(address);
    lowerEqual = load<u64>(address, 8);
    const vertical = equal | minus;
    const matched = equal | (above >> 1);
    const horizontal = (((matched & plus) + plus) ^ plus) | matched;
    const up = minus | ~(horizontal | plus);
    const down = plus & horizontal;
    handed = (up >> 63) | ((down >> 63) << 1);
    const shiftedUp = (up << 1) | (above & 1);
    plus = (down << 1) | (above >> 1) | ~(vertical | shiftedUp);
    minus = shiftedUp & vertical;
  }
}
