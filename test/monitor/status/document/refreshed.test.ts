import { describe, expect, it } from "vitest";
import { createRefreshed } from "../../../../src/monitor/status/document/refreshed.ts";
import { createManualClock } from "../../../kernel/supervisor/manual-clock.ts";

function counting() {
  const clock = createManualClock();
  const state = { made: 0, fails: false, hold: Promise.resolve() };
  const kept = createRefreshed<number>(clock, { renewMs: 100, expireMs: 250 }, async () => {
    await state.hold;
    if (state.fails) throw new Error("not now");
    state.made += 1;
    return state.made;
  });
  return { clock, state, kept };
}

describe("what is kept for a moment", () => {
  it("is made once for all who ask at a time, and not again while it is fresh", async () => {
    const { clock, kept } = counting();
    expect(await Promise.all([kept.get(), kept.get(), kept.get()])).toEqual([1, 1, 1]);
    await clock.advance(99);
    expect(await kept.get()).toBe(1);
  });

  it("is renewed while those who ask still get the old one, and waited for once it has expired", async () => {
    const { clock, state, kept } = counting();
    await kept.get();
    await clock.advance(100);
    expect(await kept.get()).toBe(1);
    await clock.advance(0);
    expect([await kept.get(), state.made]).toEqual([2, 2]);
    await clock.advance(250);
    expect(await kept.get()).toBe(3);
  });

  it("has the age of when its making began", async () => {
    const { clock, state, kept } = counting();
    const { promise, resolve } = Promise.withResolvers<void>();
    state.hold = promise;
    const pending = kept.get();
    await clock.advance(250);
    resolve();
    expect(await pending).toBe(1);
    expect(await kept.get()).toBe(2);
  });

  it("fails for who waits, is tried again, and a renewal that fails hurts nobody", async () => {
    const { clock, state, kept } = counting();
    state.fails = true;
    await expect(kept.get()).rejects.toThrow("not now");
    state.fails = false;
    expect(await kept.get()).toBe(1);
    state.fails = true;
    await clock.advance(150);
    expect(await kept.get()).toBe(1);
    await clock.advance(150);
    await expect(kept.get()).rejects.toThrow("not now");
  });
});
