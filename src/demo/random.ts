/**
 * Repeatable randomness for the demo: the same seed and label give the same choices on every
 * machine.
 */

/** A stream of choices. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** A whole number, both ends included. */
  integer(from: number, to: number): number;
  pick<T>(list: readonly T[]): T;
  /** A new list in another order (Fisher–Yates). */
  shuffle<T>(list: readonly T[]): T[];
  /** A stream of its own; drawing from one never moves another. */
  fork(label: string): Random;
}

/** A stream for a seed, any whole number. */
export function createRandom(seed: number, label = ""): Random {
  let state = hash(`${seed}/${label}`);
  // mulberry32, public domain
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1));
  return {
    next,
    integer,
    pick<T>(list: readonly T[]): T {
      if (list.length === 0) throw new RangeError("nothing to pick from");
      return list[integer(0, list.length - 1)] as T;
    },
    shuffle<T>(list: readonly T[]): T[] {
      const copy = [...list];
      for (let index = copy.length - 1; index > 0; index--) {
        const other = integer(0, index);
        [copy[index], copy[other]] = [copy[other] as T, copy[index] as T];
      }
      return copy;
    },
    fork: (inner) => createRandom(seed, `${label}/${inner}`),
  };
}

// FNV-1a, 32 bits.
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++)
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return value;
}
