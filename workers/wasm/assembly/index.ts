/** The module's exports: what it computes, and where its inputs and results lie. */
export {
  BANDS,
  COLUMNS,
  FOLD_THREE,
  FOLD_TWO,
  HISTOGRAM,
  LOW_BYTES,
  RESULT,
  ROWS,
  SHINGLES,
  SHINGLES_SCRATCH,
  TEXT,
  WORDS,
} from "./layout";
export { read } from "./read";
export { distinct, sketch } from "./sketch";
export { mergeBound, sortWords } from "./words";
export { distance } from "./distance";
export { common } from "./sets";
export { compareSketches, listUnmet } from "./compare";
