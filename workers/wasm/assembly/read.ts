/**
 * Reads a text in UTF-8: folds case, collapses white space, hashes its words and their shingles.
 */
import { CLEAN, FOLD_THREE, FOLD_TWO, PADDING, RESULT, SHINGLES, TEXT, WORDS } from "./layout";

const LENGTH_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
const WORD_FACTOR: u64 = 0xbf58_476d_1ce4_e5b9;
const TAIL_FACTOR: u64 = 0x94d0_49bb_1331_11eb;
const SHINGLE_FACTOR: u64 = 0xd6e8_feb8_6659_fd93;
const WINDOW_FACTOR: u64 = 0xff51_afd7_ed55_8ccd;

/** Set by `fold`: white space stands beside white space somewhere. */
let doubled: bool = false;

/**
 * Reads the `length` bytes at TEXT. With `folded` the case was folded by the host. Answers false,
 * with the text half folded, when only the host can fold it. Writes RESULT: where the normal form
 * starts, its bytes, words, and shingles of `size` words.
 */
export function read(length: usize, size: i32, folded: bool): bool {
  if (!fold(length, folded)) return false;
  let start = TEXT;
  let end = TEXT + length;
  while (start < end && load<u8>(start) == 0x20) start += 1;
  while (end > start && load<u8>(end - 1) == 0x20) end -= 1;
  memory.fill(end, 0x20, PADDING);
  const words = doubled ? collapse(start, end) : split(start, end);
  if (doubled) {
    store<u32>(RESULT, <u32>CLEAN);
    store<u32>(RESULT + 4, <u32>cleanLength);
  } else {
    store<u32>(RESULT, <u32>start);
    store<u32>(RESULT + 4, <u32>(end - start));
  }
  store<u32>(RESULT + 8, words);
  store<u32>(RESULT + 12, shingles(words, size));
  return true;
}

/** Lower case and one kind of space, in place: no character changes its length. */
function fold(length: usize, folded: bool): bool {
  const end = TEXT + length;
  memory.fill(end, 0, PADDING);
  const a = i8x16.splat(0x41);
  const letters = i8x16.splat(26);
  const tab = i8x16.splat(9);
  const blanks = i8x16.splat(5);
  const space = i8x16.splat(0x20);
  let carry = 0;
  let doubles = 0;
  for (let at = TEXT; at < end; at += 16) {
    let bytes = v128.load(at);
    const wide = i8x16.bitmask(bytes);
    if (wide != 0) {
      if (!foldWide(at, wide, folded)) return false;
      bytes = v128.load(at);
    }
    const upper = i8x16.lt_u(i8x16.sub(bytes, a), letters);
    bytes = v128.or(bytes, v128.and(upper, space));
    const blank = i8x16.lt_u(i8x16.sub(bytes, tab), blanks);
    bytes = v128.bitselect(space, bytes, blank);
    v128.store(at, bytes);
    const spaces = i8x16.bitmask(i8x16.eq(bytes, space));
    doubles |= spaces & ((spaces << 1) | carry);
    carry = spaces >> 15;
  }
  doubled = doubles != 0;
  return true;
}

/** Folds the characters above ASCII that begin in a block; false when the host has to. */
function foldWide(block: usize, wide: i32, folded: bool): bool {
  for (let rest = wide; rest != 0; rest &= rest - 1) {
    const at = block + ctz(rest);
    const lead = <u32>load<u8>(at);
    if (lead < 0xc0) continue;
    if (lead < 0xe0) {
      const index = ((lead & 0x1f) << 6) | (<u32>load<u8>(at, 1) & 0x3f);
      const lower = load<u16>(FOLD_TWO + ((<usize>index) << 1));
      if (lower != 0) store<u16>(at, lower);
      else if (!folded) return false;
    } else if (lead < 0xf0) {
      const page = ((lead & 0xf) << 6) | (<u32>load<u8>(at, 1) & 0x3f);
      const kind = load<u8>(FOLD_THREE + <usize>page);
      if (kind == 0) continue;
      if (kind == 1) {
        if (!folded) return false;
      } else if (isSpace((page << 6) | (<u32>load<u8>(at, 2) & 0x3f))) {
        store<u16>(at, 0x2020);
        store<u8>(at, 0x20, 2);
      }
    } else if (lead == 0xf0 && !folded) {
      // Deseret, Osage, Vithkuqi, Old Hungarian, Garay, Warang Citi, Medefaidrin, Adlam.
      const next = load<u8>(at, 1);
      if (next == 0x90 || next == 0x91 || next == 0x96 || next == 0x9e) return false;
    }
  }
  return true;
}

/** White space of ECMAScript among the 3-byte characters. */
function isSpace(point: u32): bool {
  return (
    (point >= 0x2000 && point <= 0x200a) ||
    point == 0x2028 ||
    point == 0x2029 ||
    point == 0x202f ||
    point == 0x205f ||
    point == 0x3000 ||
    point == 0xfeff ||
    point == 0x1680
  );
}

/** Which of the 64 bytes from `at` are spaces. */
function spacesOf(at: usize): u64 {
  const space = i8x16.splat(0x20);
  return (
    <u64>i8x16.bitmask(i8x16.eq(v128.load(at), space)) |
    ((<u64>i8x16.bitmask(i8x16.eq(v128.load(at, 16), space))) << 16) |
    ((<u64>i8x16.bitmask(i8x16.eq(v128.load(at, 32), space))) << 32) |
    ((<u64>i8x16.bitmask(i8x16.eq(v128.load(at, 48), space))) << 48)
  );
}

/** Hashes the words of a text with single spaces; how many there are. */
function split(start: usize, end: usize): u32 {
  if (start == end) return 0;
  let word = start;
  let out = WORDS;
  for (let at = start; at <= end; at += 64) {
    for (let rest = spacesOf(at); rest != 0; rest &= rest - 1) {
      const stop = at + <usize>ctz(rest);
      if (stop > end) break;
      store<u64>(out, wordHash(word, stop - word));
      out += 8;
      word = stop + 1;
    }
  }
  return <u32>((out - WORDS) >> 3);
}

/** Bytes that `collapse` wrote. */
let cleanLength: usize = 0;

/** Hashes the words and writes them to CLEAN with single spaces; how many there are. */
function collapse(start: usize, end: usize): u32 {
  let word = start;
  let out = WORDS;
  let clean = CLEAN;
  for (let at = start; at <= end; at += 64) {
    for (let rest = spacesOf(at); rest != 0; rest &= rest - 1) {
      const stop = at + <usize>ctz(rest);
      const length = stop - word;
      if (length != 0) {
        store<u64>(out, wordHash(word, length));
        out += 8;
        for (let i: usize = 0; i < length; i += 16) v128.store(clean + i, v128.load(word + i));
        clean += length;
        store<u8>(clean, 0x20);
        clean += 1;
      }
      word = stop + 1;
    }
  }
  cleanLength = clean == CLEAN ? 0 : clean - CLEAN - 1;
  return <u32>((out - WORDS) >> 3);
}

/** Hash of the bytes of a word, at least one. */
function wordHash(at: usize, length: usize): u64 {
  let hash: u64 = <u64>length * LENGTH_FACTOR;
  while (length > 8) {
    hash = (hash ^ load<u64>(at)) * WORD_FACTOR;
    hash ^= hash >> 29;
    at += 8;
    length -= 8;
  }
  hash = (hash ^ (load<u64>(at) << (64 - ((<u64>length) << 3)))) * TAIL_FACTOR;
  return hash ^ (hash >> 32);
}

/**
 * Hashes every window of `size` words; how many there are. The windows' polynomial rolls: each word
 * enters once and leaves once.
 */
function shingles(words: u32, size: u32): u32 {
  if (words < size) return 0;
  let leaving: u64 = 1;
  for (let i: u32 = 0; i < size; i += 1) leaving *= WINDOW_FACTOR;
  let window: u64 = 0;
  for (let i: u32 = 0; i < size; i += 1)
    window = window * WINDOW_FACTOR + load<u64>(WORDS + ((<usize>i) << 3));
  let out = SHINGLES;
  store<u32>(out, finish(window));
  const end = WORDS + ((<usize>words) << 3);
  const reach = (<usize>size) << 3;
  for (let at = WORDS + reach; at < end; at += 8) {
    window = window * WINDOW_FACTOR + load<u64>(at) - load<u64>(at - reach) * leaving;
    out += 4;
    store<u32>(out, finish(window));
  }
  return words - size + 1;
}

function finish(window: u64): u32 {
  return <u32>(((window ^ (window >> 32)) * SHINGLE_FACTOR) >> 32);
}
