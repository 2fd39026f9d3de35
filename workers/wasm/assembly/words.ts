/** Puts the words of a sample in code-unit order, and merges two such samples. */
import { COLUMNS, COUNTERS, ENTRIES, ENTRIES_SCRATCH, HISTOGRAM, ROWS } from "./layout";

/** An entry: first four units, most significant first (u64) · address of the word · its units. */
const ENTRY: usize = 16;

/**
 * Sorts the words among the `units` units at COLUMNS, separated by spaces, and writes them to ROWS
 * with single spaces between; how many units that are. HISTOGRAM counts them by their low 7 bits.
 */
export function sortWords(units: u32): u32 {
  const count = collect(units);
  const entries = radix(count);
  sortTies(entries, count);
  const length = join(entries, count);
  memory.fill(HISTOGRAM, 0, 512);
  for (let at = ROWS; at < ROWS + ((<usize>length) << 1); at += 2) {
    const counter = HISTOGRAM + ((<usize>(load<u16>(at) & 0x7f)) << 2);
    store<u32>(counter, load<u32>(counter) + 1);
  }
  return length;
}

function collect(units: u32): u32 {
  const end = COLUMNS + ((<usize>units) << 1);
  store<u16>(end, 0x20);
  let out = ENTRIES;
  let word = COLUMNS;
  for (let at = COLUMNS; at <= end; at += 2) {
    if (load<u16>(at) != 0x20) continue;
    const length = <u32>((at - word) >> 1);
    if (length != 0) {
      store<u64>(out, keyOf(word, length));
      store<u32>(out, <u32>word, 8);
      store<u32>(out, length, 12);
      out += ENTRY;
    }
    word = at + 2;
  }
  return <u32>((out - ENTRIES) / ENTRY);
}

function keyOf(word: usize, length: u32): u64 {
  const units = load<u64>(word);
  const key =
    ((units & 0xffff) << 48) |
    ((units & 0xffff_0000) << 16) |
    ((units >> 16) & 0xffff_0000) |
    (units >> 48);
  return length >= 4 ? key : key & (~(<u64>0) << (64 - ((<u64>length) << 4)));
}

/** Sorts by key, skipping bytes in which all agree; where the sorted entries lie. */
function radix(count: u32): usize {
  memory.fill(COUNTERS, 0, 8192);
  const bytes = <usize>count * ENTRY;
  for (let at = ENTRIES; at < ENTRIES + bytes; at += ENTRY) {
    const key = load<u64>(at);
    for (let pass: u32 = 0; pass < 8; pass += 1) {
      const counter =
        COUNTERS + ((<usize>pass) << 10) + ((<usize>(key >> (pass << 3)) & 0xff) << 2);
      store<u32>(counter, load<u32>(counter) + 1);
    }
  }
  let from = ENTRIES;
  let to = ENTRIES_SCRATCH;
  for (let pass: u32 = 0; pass < 8 && count > 0; pass += 1) {
    const counters = COUNTERS + ((<usize>pass) << 10);
    const first = (<usize>(load<u64>(from) >> (pass << 3)) & 0xff) << 2;
    if (load<u32>(counters + first) == count) continue;
    let start: u32 = 0;
    for (let counter = counters; counter < counters + 1024; counter += 4) {
      const found = load<u32>(counter);
      store<u32>(counter, start);
      start += found;
    }
    for (let at = from; at < from + bytes; at += ENTRY) {
      const counter = counters + ((<usize>(load<u64>(at) >> (pass << 3)) & 0xff) << 2);
      const place = load<u32>(counter);
      store<u32>(counter, place + 1);
      v128.store(to + <usize>place * ENTRY, v128.load(at));
    }
    const other = from;
    from = to;
    to = other;
  }
  return from;
}

/** Sorts runs of equal keys by what follows the first four units. */
function sortTies(entries: usize, count: u32): void {
  const end = entries + <usize>count * ENTRY;
  for (let start = entries; start < end;) {
    let stop = start + ENTRY;
    while (stop < end && load<u64>(stop) == load<u64>(start)) stop += ENTRY;
    if (stop - start > ENTRY && !isSorted(start, stop))
      mergeSort(start, stop, entries == ENTRIES ? ENTRIES_SCRATCH : ENTRIES);
    start = stop;
  }
}

function isSorted(start: usize, stop: usize): bool {
  for (let at = start + ENTRY; at < stop; at += ENTRY)
    if (compare(at - ENTRY, at) > 0) return false;
  return true;
}

/** Bottom-up merges of twice the width each; entries in between lie at `scratch`. */
function mergeSort(start: usize, stop: usize, scratch: usize): void {
  const bytes = stop - start;
  for (let width = ENTRY; width < bytes; width <<= 1) {
    for (let low: usize = 0; low < bytes; low += width << 1) {
      const middle = min(low + width, bytes);
      const high = min(low + (width << 1), bytes);
      let left = low;
      let right = middle;
      for (let out = low; out < high; out += ENTRY) {
        const takeLeft =
          left < middle && (right >= high || compare(start + left, start + right) <= 0);
        v128.store(scratch + out, v128.load(start + (takeLeft ? left : right)));
        if (takeLeft) left += ENTRY;
        else right += ENTRY;
      }
    }
    memory.copy(start, scratch, bytes);
  }
}

/** Order of two words by code unit, a prefix first: negative, 0 or positive. */
function compare(a: usize, b: usize): i32 {
  const lengthA = load<u32>(a, 12);
  const lengthB = load<u32>(b, 12);
  return compareUnits(load<u32>(a, 8), lengthA, load<u32>(b, 8), lengthB);
}

function compareUnits(a: usize, lengthA: u32, b: usize, lengthB: u32): i32 {
  const shorter = (<usize>min(lengthA, lengthB)) << 1;
  for (let i: usize = 0; i < shorter; i += 2) {
    const difference = <i32>load<u16>(a + i) - <i32>load<u16>(b + i);
    if (difference != 0) return difference;
  }
  return <i32>lengthA - <i32>lengthB;
}

function join(entries: usize, count: u32): u32 {
  let out = ROWS;
  for (let at = entries; at < entries + <usize>count * ENTRY; at += ENTRY) {
    const bytes = (<usize>load<u32>(at, 12)) << 1;
    const word = <usize>load<u32>(at, 8);
    for (let i: usize = 0; i < bytes; i += 16) v128.store(out + i, v128.load(word + i));
    out += bytes;
    store<u16>(out, 0x20);
    out += 2;
  }
  return out == ROWS ? 0 : <u32>((out - ROWS) >> 1) - 1;
}

/**
 * An upper bound of the edit distance of the word-sorted samples at ROWS and COLUMNS: words that
 * both have stay; between two of them the longer side is replaced. Reads one unit past each end.
 */
export function mergeBound(rows: u32, columns: u32): u32 {
  const endA = ROWS + ((<usize>rows) << 1);
  const endB = COLUMNS + ((<usize>columns) << 1);
  store<u16>(endA, 0x20);
  store<u16>(endB, 0x20);
  let a = ROWS;
  let b = COLUMNS;
  let gapA: u32 = 0;
  let gapB: u32 = 0;
  let bound: u32 = 0;
  while (a < endA && b < endB) {
    let i: usize = 0;
    let unitA = load<u16>(a);
    let unitB = load<u16>(b);
    while (unitA == unitB && unitA != 0x20) {
      i += 2;
      unitA = load<u16>(a + i);
      unitB = load<u16>(b + i);
    }
    if (unitA == unitB) {
      bound += max(gapA, gapB);
      gapA = 0;
      gapB = 0;
      a += i + 2;
      b += i + 2;
    } else if (unitB == 0x20 || (unitA != 0x20 && unitA > unitB)) {
      const next = afterWord(b + i);
      gapB += <u32>((next - b) >> 1);
      b = next;
    } else {
      const next = afterWord(a + i);
      gapA += <u32>((next - a) >> 1);
      a = next;
    }
  }
  if (a < endA) gapA += <u32>((endA + 2 - a) >> 1);
  if (b < endB) gapB += <u32>((endB + 2 - b) >> 1);
  return bound + max(gapA, gapB);
}

function afterWord(at: usize): usize {
  while (load<u16>(at) != 0x20) at += 2;
  return at + 2;
}
