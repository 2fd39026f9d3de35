/** Comparing one sketch with many. */
import { SHINGLES, TEXT, WORDS } from "./layout";

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
