import { describe, expect, it } from "vitest";
import {
  createRequestSlots,
  type HeldRequest,
  type RequestSlots,
  type RequestSlotsOptions,
} from "../../../../src/kernel/listen/admission/request-slots.ts";
import { createManualClock } from "../../supervisor/manual-clock.ts";

interface Holder extends HeldRequest {
  waits: boolean;
  evicted: boolean;
}

function holder(address?: string, waits = false): Holder {
  const made: Holder = {
    address,
    waits,
    evicted: false,
    waitsForClient: () => made.waits,
    evict: () => void (made.evicted = true),
  };
  return made;
}

function slots(options: Partial<RequestSlotsOptions> = {}): {
  slots: RequestSlots;
  clock: ReturnType<typeof createManualClock>;
} {
  const clock = createManualClock();
  return {
    clock,
    slots: createRequestSlots(
      { slots: 2, perAddress: 2, waitMs: 250, evicts: "nobody", ...options },
      clock,
    ),
  };
}

describe("slots", () => {
  it("are given at once while there are some, then as they come back, first come first served", async () => {
    const { slots: all } = slots();
    const [a, b, c, d] = [holder(), holder(), holder(), holder()];
    expect([await all.enter(a), await all.enter(b), all.inUse()]).toEqual([true, true, 2]);
    const order: string[] = [];
    const waiting = [
      all.enter(c).then(() => order.push("c")),
      all.enter(d).then(() => order.push("d")),
    ];
    all.leave(a);
    all.leave(b);
    await Promise.all(waiting);
    expect([order, all.inUse()]).toEqual([["c", "d"], 2]);
  });

  it("are refused to who waited too long, and at once to who finds the queue full", async () => {
    const { slots: all, clock } = slots();
    for (let at = 0; at < 2; at += 1) await all.enter(holder());
    const waiting = [all.enter(holder()), all.enter(holder())];
    expect(await all.enter(holder())).toBe(false);
    await clock.advance(250);
    expect(await Promise.all(waiting)).toEqual([false, false]);
  });

  it("are bounded for each address, and a shared one is not counted", async () => {
    const { slots: all } = slots({ slots: 4, perAddress: 1 });
    const first = holder("192.0.2.1");
    expect(await all.enter(first)).toBe(true);
    const second = all.enter(holder("192.0.2.1"));
    expect([
      await all.enter(holder("192.0.2.2")),
      await all.enter(holder()),
      await all.enter(holder()),
      all.inUse(),
    ]).toEqual([true, true, true, 4]);
    all.leave(first);
    expect([await second, all.inUse()]).toEqual([true, 4]);
  });

  it("pass from the oldest that waits for its client to one that has waited long enough", async () => {
    const { slots: all, clock } = slots({ evicts: "slowest" });
    const [busy, slow] = [holder(), holder(undefined, true)];
    await all.enter(busy);
    await all.enter(slow);
    const next = all.enter(holder());
    await clock.advance(249);
    expect(slow.evicted).toBe(false);
    await clock.advance(1);
    expect([await next, busy.evicted, slow.evicted, all.inUse()]).toEqual([true, false, true, 2]);
    all.leave(slow);
    expect(all.inUse()).toBe(2);
  });

  it("of an address that has all it may are taken from that address alone", async () => {
    const { slots: all, clock } = slots({ slots: 4, perAddress: 1, evicts: "slowest" });
    const [other, own] = [holder("192.0.2.2", true), holder("192.0.2.1", true)];
    await all.enter(other);
    await all.enter(own);
    const next = all.enter(holder("192.0.2.1"));
    await clock.advance(250);
    expect([await next, other.evicted, own.evicted]).toEqual([true, false, true]);
  });

  it("for probes are always there: the oldest goes", async () => {
    const { slots: all } = slots({ evicts: "oldest" });
    const [first, second] = [holder(), holder()];
    await all.enter(first);
    await all.enter(second);
    expect([await all.enter(holder()), first.evicted, second.evicted, all.inUse()]).toEqual([
      true,
      true,
      false,
      2,
    ]);
  });
});
