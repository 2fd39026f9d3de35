import { describe, expect, it } from "vitest";
import { createStallMeter } from "../../../../src/kernel/listen/admission/stall.ts";
import { createManualClock } from "../../supervisor/manual-clock.ts";

describe("a meter of readers that stand still", () => {
  it("is full after nine of ten parts in a row", async () => {
    const clock = createManualClock();
    const meter = createStallMeter(30_000, clock);
    expect(meter.partMs).toBe(3000);
    const fired: boolean[] = [];
    for (let part = 0; part < 9; part += 1) {
      await clock.advance(3000);
      fired.push(meter.fired());
    }
    expect(fired).toEqual([...Array.from({ length: 8 }, () => false), true]);
  });

  it("begins anew when something moved in between", async () => {
    const clock = createManualClock();
    const meter = createStallMeter(30_000, clock);
    for (let part = 0; part < 30; part += 1) {
      await clock.advance(part % 5 === 0 ? 6000 : 3000);
      expect(meter.fired()).toBe(false);
    }
  });
});
