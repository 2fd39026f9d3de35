/**
 * Leaves an upstream alone after too many failures in a row; then a single call finds out whether
 * it is back.
 */
import type { Clock } from "../base/clock.ts";
import type { BreakerRule } from "./types.ts";

/** Before and after each attempt. */
export interface Breaker {
  /**
   * 0: go ahead, and say afterwards how it went. Otherwise the time until it is worth asking again,
   * in milliseconds.
   */
  admit(): number;
  /** `good`: it answered; `trouble`: it failed; `unknown`: the attempt was cancelled. */
  settle(outcome: "good" | "trouble" | "unknown"): void;
}

/** Never leaves an upstream alone. */
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
