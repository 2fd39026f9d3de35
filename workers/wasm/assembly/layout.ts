/**
 * Where everything lies in the module's memory, in bytes. The host reads these addresses from the
 * module's exports; sizes hold a text of 500,000 UTF-16 units and samples of 131,072.
 *
 * ```text
 * tables  folding of 2-byte characters · kinds of 3-byte characters · results · counters
 * sketch  bins · band keys · low bytes
 * text    UTF-8 as given, folded in place · the same with white space collapsed
 * words   64-bit hashes of words · 32-bit hashes of shingles · scratch of their sort
 * pairs   rows, columns, differences, occurrences of the edit distance
 * sort    entries of words, twice · histogram
 * ```
 */

/** Per 2-byte character its lower-case form, as the 16 bits to store; 0 where there is none. */
export const FOLD_TWO: usize = 0x1000;
/** Per block of 64 3-byte characters: 0 leave, 1 fold by the host, 2 may be white space. */
export const FOLD_THREE: usize = 0x2000;
/** Results of `read`: start, length, words, shingles; four u32. */
export const RESULT: usize = 0x2800;
/** Counters of the radix sorts: 8 × 256 u32. */
export const COUNTERS: usize = 0x3000;
export const BINS: usize = 0x5000;
export const BANDS: usize = 0x6000;
export const LOW_BYTES: usize = 0x7000;
/** 128 u32. */
export const HISTOGRAM: usize = 0x8000;

export const TEXT: usize = 0x1_0000;
export const CLEAN: usize = 0x19_0000;
/** Spaces that follow a text, so that wide loads stay within known bytes. */
export const PADDING: usize = 192;

export const WORDS: usize = 0x31_0000;
export const SHINGLES: usize = 0x51_0000;
export const SHINGLES_SCRATCH: usize = 0x61_0000;

export const ROWS: usize = 0x71_0000;
export const COLUMNS: usize = 0x76_0000;
export const DIFFERENCES: usize = 0x7b_0000;
export const OCCURRENCES: usize = 0x7e_0000;

export const ENTRIES: usize = 0x8e_0000;
export const ENTRIES_SCRATCH: usize = 0x9e_0000;
// The memory ends at 0xae_0000: 174 pages (tools/wasm.ts).
