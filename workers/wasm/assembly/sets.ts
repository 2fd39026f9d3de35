/** How much two sets of shingles share. */
import { SHINGLES, SHINGLES_SCRATCH } from "./layout";

/** Steps of the merge between two looks at what is still possible. */
const CHECK_EVERY: u32 = 32;

/**
 * How many numbers the `countA` at SHINGLES and the `countB` at SHINGLES_SCRATCH share, both
 * ascending and distinct; or any number below `least` once `least` is out of reach. Four are
 * compared with four at a time (Lemire, Boytsov and Kurz 2016).
 */
export function common(countA: u32, countB: u32, least: u32): u32 {
  let a = SHINGLES;
  let b = SHINGLES_SCRATCH;
  const endA = a + ((<usize>countA) << 2);
  const endB = b + ((<usize>countB) << 2);
  let found: u32 = 0;
  let steps = CHECK_EVERY;
  while (a + 16 <= endA && b + 16 <= endB) {
    const four = v128.load(a);
    const other = v128.load(b);
    const equal = v128.or(
      v128.or(i32x4.eq(four, other), i32x4.eq(four, v128.shuffle<u32>(other, other, 1, 2, 3, 0))),
      v128.or(
        i32x4.eq(four, v128.shuffle<u32>(other, other, 2, 3, 0, 1)),
        i32x4.eq(four, v128.shuffle<u32>(other, other, 3, 0, 1, 2)),
      ),
    );
    found += popcnt(i32x4.bitmask(equal));
    const lastA = load<u32>(a, 12);
    const lastB = load<u32>(b, 12);
    a += (<usize>(lastA <= lastB)) << 4;
    b += (<usize>(lastB <= lastA)) << 4;
    steps -= 1;
    if (steps == 0) {
      if (found + <u32>(min(endA - a, endB - b) >> 2) < least) return found;
      steps = CHECK_EVERY;
    }
  }
  while (a < endA && b < endB) {
    const left = load<u32>(a);
    const right = load<u32>(b);
    found += <u32>(left == right);
    a += (<usize>(left <= right)) << 2;
    b += (<usize>(right <= left)) << 2;
  }
  return found;
}
