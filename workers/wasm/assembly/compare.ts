/** Comparing one sketch with many. */
import { SHINGLES, SHINGLES_SCRATCH, TEXT, WORDS } from "./layout";

/**
 * Equal bytes of the sketch at TEXT and each of `count` others: their numbers, u32 from 1, lie at
 * WORDS, the sketches one after the other behind the first; answers u16 at SHINGLES. `stride` is the
 * bytes of a sketch, a multiple of 16 up to 1,024; padding is equal and counted.
 */
export function compareSketches(count: u32, stride: u32): void {
  const one = TEXT;
  let at = WORDS;
  let out = SHINGLES;
  for (const end = WORDS + ((<usize>count) << 2); at < end; at += 4) {
    const other = TEXT + <usize>load<u32>(at) * <usize>stride;
    // Lanes of a byte count up to 64 each: an equal byte is -1.
    let equal = i8x16.splat(0);
    for (let byte: usize = 0; byte < <usize>stride; byte += 16)
      equal = i8x16.sub(equal, i8x16.eq(v128.load(one + byte), v128.load(other + byte)));
    const pairs = i16x8.extadd_pairwise_i8x16_u(equal);
    const fours = i32x4.extadd_pairwise_i16x8_u(pairs);
    const sum =
      i32x4.extract_lane(fours, 0) +
      i32x4.extract_lane(fours, 1) +
      i32x4.extract_lane(fours, 2) +
      i32x4.extract_lane(fours, 3);
    store<u16>(out, <u16>sum);
    out += 2;
  }
}

/**
 * Writes to WORDS the numbers from `first` to `end` that have no key in common with number 0, and
 * answers how many. Keys lie at SHINGLES_SCRATCH: `reach` u32 of each of `bands` bands.
 */
export function listUnmet(first: u32, end: u32, bands: u32, reach: u32): u32 {
  const width = (<usize>reach) << 2;
  const last = SHINGLES_SCRATCH + <usize>bands * width;
  let out = WORDS;
  let number = first;
  for (; number + 4 <= end; number += 4) {
    let met = i32x4.splat(0);
    for (let keys = SHINGLES_SCRATCH; keys < last; keys += width)
      met = v128.or(
        met,
        i32x4.eq(v128.load(keys + ((<usize>number) << 2)), i32x4.splat(load<u32>(keys))),
      );
    for (let rest = i32x4.bitmask(met) ^ 15; rest != 0; rest &= rest - 1) {
      store<u32>(out, number + <u32>ctz(rest));
      out += 4;
    }
  }
  for (; number < end; number += 1) {
    let met = false;
    for (let keys = SHINGLES_SCRATCH; keys < last; keys += width)
      met = met || load<u32>(keys + ((<usize>number) << 2)) == load<u32>(keys);
    if (met) continue;
    store<u32>(out, number);
    out += 4;
  }
  return <u32>((out - WORDS) >> 2);
}
