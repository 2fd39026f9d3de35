/** Histogram bounds that several metrics share. */

const DAY_S = 86_400;

/** In seconds, for ages up to months. */
export const ageSeconds: readonly number[] = [
  DAY_S,
  7 * DAY_S,
  30 * DAY_S,
  90 * DAY_S,
  180 * DAY_S,
  365 * DAY_S,
  730 * DAY_S,
];
