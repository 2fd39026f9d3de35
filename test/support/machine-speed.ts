/**
 * How much slower this machine is than the one that bounds of time were set on, so that a bound
 * says the same of Steward on both.
 */

const ROUNDS = 5;
const TURNS = 30_000_000;
const BYTES = 64 * 1024 * 1024;

/** Work, and the milliseconds that it takes where the bounds were set. */
const measures: readonly { readonly work: () => number; readonly referenceMs: number }[] = [
  {
    work() {
      let sum = 0;
      for (let turn = 0; turn < TURNS; turn += 1) sum += turn % 7;
      return sum;
    },
    referenceMs: 90,
  },
  // Memory that is touched for the first time: slow where the host reclaims it.
  { work: () => Buffer.alloc(BYTES, 1).length, referenceMs: 40 },
];

/**
 * The worse of both ratios, each of its best round, and at least 1: a faster machine tightens
 * nothing. Takes about a second.
 */
export function slowness(): number {
  return Math.max(
    1,
    ...measures.map(({ work, referenceMs }) => {
      const tookMs = Array.from({ length: ROUNDS }, () => {
        const beganMs = performance.now();
        return work() > 0 ? performance.now() - beganMs : Number.NaN;
      });
      return Math.min(...tookMs) / referenceMs;
    }),
  );
}
