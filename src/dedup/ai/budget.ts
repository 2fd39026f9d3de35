/**
 * Cost limits of a run and of a month. A request is reserved at its highest cost before it is sent,
 * so that requests in flight together never exceed a limit by more than their estimates are wrong.
 */
import type { Clock } from "../../kernel/base/clock.ts";
import { orAborted } from "../../kernel/async/wait.ts";
import { monthOf } from "./costs.ts";

export interface BudgetLimits {
  /** 0 is no limit. */
  readonly perRunUsd: number;
  readonly perMonthUsd: number;
}

export interface BudgetStart {
  readonly spentInRunUsd: number;
  readonly spentInMonthUsd: number;
}

/** Which limit was reached. */
export type ReachedLimit = "run_cost_limit" | "month_cost_limit";

export interface Budget {
  /** Waits for requests in flight while they might leave enough; then says which limit is reached. */
  reserve(costUsd: number, signal: AbortSignal): Promise<Reservation | ReachedLimit>;
  readonly spentInRunUsd: number;
}

interface Reservation {
  /** Replaces the reservation by what was spent. */
  settle(costUsd: number): void;
}

export function createBudget(clock: Clock, limits: BudgetLimits, start: BudgetStart): Budget {
  let { spentInRunUsd, spentInMonthUsd } = start;
  let month = monthOf(clock.now());
  let reservedUsd = 0;
  let settled = Promise.withResolvers<void>();

  function reached(costUsd: number): ReachedLimit | undefined {
    const now = monthOf(clock.now());
    if (now !== month) [month, spentInMonthUsd] = [now, 0];
    const more = reservedUsd + costUsd;
    if (limits.perRunUsd > 0 && spentInRunUsd + more > limits.perRunUsd) return "run_cost_limit";
    return limits.perMonthUsd > 0 && spentInMonthUsd + more > limits.perMonthUsd
      ? "month_cost_limit"
      : undefined;
  }

  return {
    get spentInRunUsd() {
      return spentInRunUsd;
    },
    async reserve(costUsd, signal) {
      for (;;) {
        const limit = reached(costUsd);
        if (limit === undefined) break;
        if (reservedUsd === 0) return limit;
        await orAborted(settled.promise, signal);
      }
      reservedUsd += costUsd;
      return {
        settle(actualUsd) {
          reservedUsd = Math.max(0, reservedUsd - costUsd);
          // What rounding leaves would make others wait for nobody.
          if (reservedUsd < 1e-9) reservedUsd = 0;
          spentInRunUsd += actualUsd;
          spentInMonthUsd += actualUsd;
          settled.resolve();
          settled = Promise.withResolvers();
        },
      };
    },
  };
}
