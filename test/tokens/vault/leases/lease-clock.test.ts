import fc from "fast-check";
import { expect, it } from "vitest";
import { createLeaseClock } from "../../../../src/tokens/vault/leases/lease-clock.ts";

/** Time that passes, and steps of the wall clock, in milliseconds. */
const events = fc.array(fc.record({ passMs: fc.nat(100_000), stepMs: fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }) }), { maxLength: 30 });

it("never falls behind the time that passed nor behind the wall clock, whatever the wall clock does", () => {
  fc.assert(fc.property(events, (steps) => {
    let [wallMs, monotonicMs] = [1_700_000_000_000, 0];
    const clock = createLeaseClock({ now: () => wallMs, monotonic: () => monotonicMs, timer: () => ({ [Symbol.dispose]: () => undefined }) });
    let before = clock.now();
    for (const { passMs, stepMs } of steps) {
      wallMs += passMs + stepMs;
      monotonicMs += passMs;
      const now = clock.now();
      expect(now).toBeGreaterThanOrEqual(before + passMs);
      expect(now).toBeGreaterThanOrEqual(wallMs);
      expect(clock.toWall(now)).toBe(wallMs);
      before = now;
    }
  }));
});

it("goes on from a mark: not behind it, and as far ahead of the wall clock as then", () => {
  fc.assert(fc.property(fc.nat(1_000_000_000), fc.nat(1_000_000_000), fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }), (aheadMs, downMs, stepMs) => {
    const wallMs = 1_700_000_000_000;
    const clock = createLeaseClock({ now: () => wallMs + downMs + stepMs, monotonic: () => 0, timer: () => ({ [Symbol.dispose]: () => undefined }) });
    clock.resume({ steadyMs: wallMs + aheadMs, wallMs });
    expect(clock.now()).toBe(Math.max(wallMs + aheadMs, wallMs + downMs + stepMs + aheadMs));
  }));
});
