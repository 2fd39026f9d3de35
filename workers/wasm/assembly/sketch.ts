/**
 * Fast similarity sketching (Dahlgaard, Knudsen and Thorup 2017) of the shingles: bins, band keys
 * and low bytes.
 */
import { BANDS, BINS, COUNTERS, LOW_BYTES, SHINGLES, SHINGLES_SCRATCH } from "./layout";

const EMPTY: u32 = 0xffff_ffff;
const SEED_FACTOR: u32 = 0x9e37_79b1;
const VALUE_FACTOR: i32 = <i32>0x9e37_79b9;
const BAND_FACTOR: u64 = 0xff51_afd7_ed55_8ccd;
/** Rounds in which every shingle falls into a bin of its own choice. */
const FREE_ROUNDS: u32 = 254;
/** From here on a list of many shingles is worth its sort. */
const DISTINCT_AFTER: u32 = 8;

/**
 * Sketches the first `count` shingles, at least one, into `size` bins, and makes `bands` keys and
 * `size` low bytes of them. Afterwards the shingles may be sorted.
 *
 * Every shingle has one value per bin: (first round in which it falls into the bin, 24 bits of its
 * hash in that round). One that never does within the free rounds gets round 255 and a hash of its
 * own for that bin. A bin keeps the least value, so the sketch depends on the set alone, and what a
 * bin holds is comparable between any two texts, in whatever round they got there.
 */
export function sketch(count: u32, size: u32, bands: u32): void {
  memory.fill(BINS, 0xff, (<usize>size) << 2);
  let round: u32 = 1;
  while (true) {
    scatter(count, size, round);
    if (isFull(size)) break;
    if (round == FREE_ROUNDS) {
      fillRest(count, size);
      break;
    }
    if (round == DISTINCT_AFTER && count > size) count = distinct(count);
    round += 1;
  }
  makeBands(size, bands);
  for (let i: usize = 0; i < <usize>size; i += 1)
    store<u8>(LOW_BYTES + i, load<u8>(BINS + (i << 2)));
}

/** Spreads the bits of four hashes: the finalizer of MurmurHash3. */
function spread(hashes: v128): v128 {
  let h = v128.xor(hashes, i32x4.shr_u(hashes, 16));
  h = i32x4.mul(h, i32x4.splat(<i32>0x85eb_ca6b));
  h = v128.xor(h, i32x4.shr_u(h, 13));
  h = i32x4.mul(h, i32x4.splat(<i32>0xc2b2_ae35));
  return v128.xor(h, i32x4.shr_u(h, 16));
}

/** Repeats the last shingle, so that groups of four are whole; repeats change no minimum. */
function padToFour(count: u32): usize {
  const end = SHINGLES + ((<usize>count) << 2);
  i32x4_store(end, load<u32>(end - 4));
  return end;
}

function i32x4_store(at: usize, value: u32): void {
  v128.store(at, i32x4.splat(value));
}

/** One free round. */
function scatter(count: u32, size: u32, round: u32): void {
  const end = padToFour(count);
  const seed = i32x4.splat(round * SEED_FACTOR);
  const tag = i32x4.splat(round << 24);
  const factor = i32x4.splat(VALUE_FACTOR);
  const sizes = i32x4.splat(size);
  for (let at = SHINGLES; at < end; at += 16) {
    const h = spread(v128.xor(v128.load(at), seed));
    const bins = i32x4.shl(i32x4.shr_u(i32x4.mul(i32x4.shr_u(h, 16), sizes), 16), 2);
    const values = v128.or(i32x4.shr_u(i32x4.mul(h, factor), 8), tag);
    lower(BINS + <usize>i32x4.extract_lane(bins, 0), i32x4.extract_lane(values, 0));
    lower(BINS + <usize>i32x4.extract_lane(bins, 1), i32x4.extract_lane(values, 1));
    lower(BINS + <usize>i32x4.extract_lane(bins, 2), i32x4.extract_lane(values, 2));
    lower(BINS + <usize>i32x4.extract_lane(bins, 3), i32x4.extract_lane(values, 3));
  }
}

function lower(bin: usize, value: u32): void {
  const before = load<u32>(bin);
  store<u32>(bin, value < before ? value : before);
}

function isFull(size: u32): bool {
  const end = BINS + ((<usize>size) << 2);
  let at = BINS;
  for (; at + 16 <= end; at += 16)
    if (v128.any_true(i32x4.eq(v128.load(at), i32x4.splat(-1)))) return false;
  for (; at < end; at += 4) if (load<u32>(at) == EMPTY) return false;
  return true;
}

/** Gives each bin that no shingle chose the least hash of that bin's own round. */
function fillRest(count: u32, size: u32): void {
  const end = padToFour(count);
  const factor = i32x4.splat(VALUE_FACTOR);
  for (let bin: u32 = 0; bin < size; bin += 1) {
    const address = BINS + ((<usize>bin) << 2);
    if (load<u32>(address) != EMPTY) continue;
    const seed = i32x4.splat((FREE_ROUNDS + 1 + bin) * SEED_FACTOR);
    let least = i32x4.splat(-1);
    for (let at = SHINGLES; at < end; at += 16) {
      const h = spread(v128.xor(v128.load(at), seed));
      least = i32x4.min_u(least, i32x4.shr_u(i32x4.mul(h, factor), 8));
    }
    let value = <u32>i32x4.extract_lane(least, 0);
    value = min(value, <u32>i32x4.extract_lane(least, 1));
    value = min(value, <u32>i32x4.extract_lane(least, 2));
    value = min(value, <u32>i32x4.extract_lane(least, 3));
    store<u32>(address, value | 0xff00_0000);
  }
}

/** One key per band of floor(size / bands) bins. */
function makeBands(size: u32, bands: u32): void {
  const rows = size / bands;
  let at = BINS;
  for (let band: u32 = 0; band < bands; band += 1) {
    let key: u64 = BAND_FACTOR;
    for (let row: u32 = 0; row < rows; row += 1) {
      key = (key ^ load<u32>(at)) * BAND_FACTOR;
      key ^= key >> 32;
      at += 4;
    }
    store<u32>(BANDS + ((<usize>band) << 2), <u32>key);
  }
}

/** Sorts the first `count` shingles and drops repeats; how many are left. */
export function distinct(count: u32): u32 {
  if (count == 0) return 0;
  sort(count);
  let kept = SHINGLES;
  const end = SHINGLES + ((<usize>count) << 2);
  let last = load<u32>(SHINGLES);
  for (let at = SHINGLES + 4; at < end; at += 4) {
    const value = load<u32>(at);
    if (value == last) continue;
    last = value;
    kept += 4;
    store<u32>(kept, value);
  }
  return <u32>((kept - SHINGLES) >> 2) + 1;
}

/** Radix sort by bytes, least first; four passes, so the result lies where it began. */
function sort(count: u32): void {
  memory.fill(COUNTERS, 0, 4096);
  const bytes = (<usize>count) << 2;
  for (let at = SHINGLES; at < SHINGLES + bytes; at += 4) {
    const value = load<u32>(at);
    for (let pass: u32 = 0; pass < 4; pass += 1) {
      const counter =
        COUNTERS + ((<usize>pass) << 10) + ((<usize>((value >> (pass << 3)) & 0xff)) << 2);
      store<u32>(counter, load<u32>(counter) + 1);
    }
  }
  let from = SHINGLES;
  let to = SHINGLES_SCRATCH;
  for (let pass: u32 = 0; pass < 4; pass += 1) {
    const counters = COUNTERS + ((<usize>pass) << 10);
    let start: u32 = 0;
    for (let counter = counters; counter < counters + 1024; counter += 4) {
      const found = load<u32>(counter);
      store<u32>(counter, start);
      start += found;
    }
    for (let at = from; at < from + bytes; at += 4) {
      const value = load<u32>(at);
      const counter = counters + ((<usize>((value >> (pass << 3)) & 0xff)) << 2);
      const place = load<u32>(counter);
      store<u32>(counter, place + 1);
      store<u32>(to + ((<usize>place) << 2), value);
    }
    const other = from;
    from = to;
    to = other;
  }
}
