/**
 * Three-valued answers: what Steward cannot know, e.g. members of a synchronised group or device
 * postures, is neither a match nor none.
 */

export const NO = 0;
export const MAYBE = 1;
export const YES = 2;
/** A destination that matches when both ends are of one user. */
export const SAME_USER = 3;

export type Certainty = typeof NO | typeof MAYBE | typeof YES;

/** The best of several alternatives; those after a sure one are not asked. */
export function anyOf<T>(items: readonly T[], answer: (item: T) => Certainty): Certainty {
  let best: Certainty = NO;
  for (const item of items) {
    const value = answer(item);
    if (value === YES) return YES;
    if (value === MAYBE) best = MAYBE;
  }
  return best;
}

/** Both conditions together. */
export function both(left: Certainty, right: Certainty): Certainty {
  return left < right ? left : right;
}
