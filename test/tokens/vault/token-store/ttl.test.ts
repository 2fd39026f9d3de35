import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { effectiveTtl, type TtlQuestion } from "../../../../src/tokens/vault/token-store/ttl.ts";

const HOUR_MS = 3_600_000;
const question: TtlQuestion = {
  incrementMs: 0,
  usualMs: 0,
  periodMs: 0,
  maxTtlMs: 0,
  explicitMaxTtlMs: 0,
  startedAtMs: 1_000_000,
  nowMs: 1_000_000,
  limits: { defaultLeaseTtlMs: 10 * HOUR_MS, maxLeaseTtlMs: 20 * HOUR_MS },
};
const hours = (changes: Partial<TtlQuestion>): number =>
  effectiveTtl({ ...question, ...changes }).ttlMs / HOUR_MS;

describe("the life of a token", () => {
  it.each<[Partial<TtlQuestion>, number]>([
    [{}, 10],
    [{ usualMs: HOUR_MS }, 1],
    [{ usualMs: HOUR_MS, incrementMs: 2 * HOUR_MS }, 2],
    [{ incrementMs: 30 * HOUR_MS }, 20],
    [{ incrementMs: 30 * HOUR_MS, maxTtlMs: 5 * HOUR_MS }, 5],
    [{ maxTtlMs: 50 * HOUR_MS, incrementMs: 50 * HOUR_MS }, 20],
    [{ explicitMaxTtlMs: 3 * HOUR_MS }, 3],
    [{ incrementMs: 5 * HOUR_MS, nowMs: 1_000_000 + 18 * HOUR_MS }, 2],
    [{ periodMs: 2 * HOUR_MS, incrementMs: 9 * HOUR_MS, nowMs: 1_000_000 + 99 * HOUR_MS }, 2],
    [{ periodMs: 30 * HOUR_MS }, 20],
    [{ periodMs: 2 * HOUR_MS, explicitMaxTtlMs: 9 * HOUR_MS, nowMs: 1_000_000 + 8 * HOUR_MS }, 1],
    [{ incrementMs: 30 * HOUR_MS, nowMs: 0 }, 20],
  ])("with %j is %d hours", (changes, expected) => {
    expect(hours(changes)).toBe(expected);
  });

  it("says what was cut, in whole seconds and in words that clients know", () => {
    expect(effectiveTtl({ ...question, incrementMs: 30 * HOUR_MS }).warnings).toEqual([
      'TTL of "30h0m0s" exceeded the effective max_ttl of "20h0m0s"; TTL value is capped accordingly',
    ]);
    expect(effectiveTtl({ ...question, periodMs: 30 * HOUR_MS }).warnings).toEqual([
      'period of "30h0m0s" exceeded the effective max_ttl of "20h0m0s"; period value is capped accordingly',
    ]);
    expect(effectiveTtl({ ...question, incrementMs: 1_999 }).ttlMs).toBe(1_000);
    expect(effectiveTtl({ ...question, incrementMs: 10 }).ttlMs).toBe(1_000);
  });

  it("is over past the maximum", () => {
    expect(() => effectiveTtl({ ...question, nowMs: 1_000_000 + 20 * HOUR_MS })).toThrow(
      "past the max TTL, cannot renew",
    );
  });

  it("never leads past any maximum, whatever is asked", () => {
    const ms = fc.oneof(fc.constant(0), fc.integer({ min: 1_000, max: 100 * HOUR_MS }));
    fc.assert(
      fc.property(
        fc.record({
          incrementMs: ms,
          usualMs: ms,
          periodMs: ms,
          maxTtlMs: ms,
          explicitMaxTtlMs: ms,
          nowMs: fc.integer({ min: 0, max: 40 * HOUR_MS }),
        }),
        (changes) => {
          const isRead = { ...question, ...changes };
          let ttlMs = 0;
          try {
            ({ ttlMs } = effectiveTtl(isRead));
          } catch {
            return;
          }
          const { explicitMaxTtlMs, maxTtlMs, periodMs, startedAtMs, nowMs } = isRead;
          expect(ttlMs).toBeGreaterThan(0);
          expect(ttlMs % 1_000).toBe(0);
          expect(ttlMs).toBeLessThanOrEqual(question.limits.maxLeaseTtlMs);
          if (maxTtlMs > 0) expect(ttlMs).toBeLessThanOrEqual(maxTtlMs);
          if (explicitMaxTtlMs > 0)
            expect(nowMs + ttlMs).toBeLessThanOrEqual(
              Math.max(startedAtMs, nowMs) + explicitMaxTtlMs,
            );
          if (explicitMaxTtlMs > 0 && nowMs >= startedAtMs)
            expect(nowMs + ttlMs).toBeLessThanOrEqual(startedAtMs + explicitMaxTtlMs);
          if (periodMs === 0 && nowMs >= startedAtMs)
            expect(nowMs + ttlMs).toBeLessThanOrEqual(startedAtMs + question.limits.maxLeaseTtlMs);
        },
      ),
    );
  });
});
