/**
 * Somebody else's running totals, told apart from what they grew by since the last look: a first
 * sight adds nothing, a fall is a new start.
 */

/** What bounds it. */
export interface RunningTotalsOptions {
  /** Totals remembered; a further one is not followed and grows by 0. */
  readonly capacity: number;
  /** Rounds without a look after which a total is forgotten. */
  readonly keepRounds: number;
}

/** The totals of one upstream. */
export interface RunningTotals {
  /** How much the total grew since the last look, never less than 0. */
  growth(key: string, total: number): number;
  /** A round of looks is over. */
  endRound(): void;
  readonly size: number;
}

interface Baseline {
  total: number;
  round: number;
}

/** Nothing is known yet. */
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
