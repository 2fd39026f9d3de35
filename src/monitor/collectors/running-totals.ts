/**
 * Converts upstream running totals to increases: the first value adds nothing, a decrease is a
 * counter reset.
 */

export interface RunningTotalsOptions {
  /** Totals remembered; further ones are not tracked and grow by 0. */
  readonly capacity: number;
  /** A total not seen for this many rounds is forgotten. */
  readonly keepRounds: number;
}

export interface RunningTotals {
  /** Increase since the last call, never negative. */
  growth(key: string, total: number): number;
  /** Ends a round of calls. */
  endRound(): void;
  readonly size: number;
}

interface Baseline {
  total: number;
  round: number;
}

export function createRunningTotals({ capacity, keepRounds }: RunningTotalsOptions): RunningTotals {
  const baselines = new Map<string, Baseline>();
  let round = 0;
  return {
    growth(key, total) {
      if (!Number.isFinite(total)) return 0;
      const known = baselines.get(key);
      if (known === undefined) {
        if (baselines.size < capacity) baselines.set(key, { total, round });
        return 0;
      }
      const grown = total < known.total ? total : total - known.total;
      known.total = total;
      known.round = round;
      return Math.max(0, grown);
    },
    endRound() {
      round += 1;
      for (const [key, baseline] of baselines) {
        if (round - baseline.round > keepRounds) baselines.delete(key);
      }
    },
    get size() {
      return baselines.size;
    },
  };
}
