/**
 * Circuit breaker: stops calling an upstream after too many consecutive failures; then a single
 * call probes it.
 */
import type { Clock } from "../../base/clock.ts";
import type { BreakerRule } from "../types.ts";

/** Called before and after each attempt. */
export interface Breaker {
  /**
   * 0: proceed, and call `settle` afterwards. Otherwise the milliseconds until the next try is
   * allowed.
   */
  admit(): number;
  /** `good`: it responded; `trouble`: it failed; `unknown`: the attempt was cancelled. */
  settle(outcome: "good" | "trouble" | "unknown"): void;
}

/** Never opens. */
export const alwaysClosed: Breaker = { admit: () => 0, settle: () => undefined };

/** A closed breaker. */
export function createBreaker(rule: BreakerRule, clock: Clock): Breaker {
  let failures = 0;
  let openUntilMs = 0;
  let probing = false;
  return {
    admit() {
      if (failures < rule.failures) return 0;
      const leftMs = openUntilMs - clock.monotonic();
      if (leftMs > 0) return leftMs;
      if (probing) return rule.coolMs;
      probing = true;
      return 0;
    },
    settle(outcome) {
      probing = false;
      if (outcome === "unknown") return;
      failures = outcome === "good" ? 0 : failures + 1;
      if (failures >= rule.failures) openUntilMs = clock.monotonic() + rule.coolMs;
    },
  };
}
