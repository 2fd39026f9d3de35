import { describe, expect, it } from "vitest";
import { createBroker } from "../../../src/tokens/plugin/broker.ts";
import { createSteppedClock } from "../support/host.ts";
import { systemClock, type Clock } from "../../../src/kernel/base/clock.ts";

const listener = { network: "unix", address: "/tmp/host.sock" };

/** Timers run when told, not by the time. */
function handClock(): Clock & { ring(): void } {
  const due = new Set<() => void>();
  return {
    ...createSteppedClock(),
    timer(_, run) {
      due.add(run);
      return { [Symbol.dispose]: () => void due.delete(run) };
    },
    ring: () => due.forEach((run) => run()),
  };
}

describe("the broker", () => {
  it("finds what was announced before the call, once", async () => {
    const clock = handClock();
    const broker = createBroker(clock);
    broker.announce(1, listener);
    expect(await broker.find(1)).toEqual(listener);
    const again = broker.find(1);
    clock.ring();
    await expect(again).rejects.toMatchObject({ code: "deadline", rule: "broker" });
  });

  it("finds what is announced after the call", async () => {
    const broker = createBroker(systemClock);
    const found = broker.find(7);
    broker.announce(8, { ...listener, address: "/other" });
    broker.announce(7, listener);
    expect(await found).toEqual(listener);
  });

  it("gives up after the time that the host waits too, and takes the number again", async () => {
    const clock = handClock();
    const broker = createBroker(clock);
    const found = broker.find(7);
    clock.ring();
    await expect(found).rejects.toThrow("did not announce its listener 7 within 5 s");
    broker.announce(7, listener);
    expect(await broker.find(7)).toEqual(listener);
  });

  it("refuses a second call for the same listener", async () => {
    const broker = createBroker(systemClock);
    const first = broker.find(7);
    await expect(broker.find(7)).rejects.toMatchObject({ code: "conflict" });
    broker.announce(7, listener);
    expect(await first).toEqual(listener);
  });

  it("keeps 1,024 unused announcements, the newest ones", async () => {
    const clock = handClock();
    const broker = createBroker(clock);
    for (let id = 0; id <= 1_024; id++) broker.announce(id, listener);
    expect(await broker.find(1)).toEqual(listener);
    const dropped = broker.find(0);
    clock.ring();
    await expect(dropped).rejects.toMatchObject({ code: "deadline" });
  });

  it("lets 1,024 calls wait, and refuses more", async () => {
    const clock = handClock();
    const broker = createBroker(clock);
    const waiting = Array.from({ length: 1_024 }, (_, id) => broker.find(id));
    await expect(broker.find(2_000)).rejects.toMatchObject({ code: "exhausted" });
    clock.ring();
    await Promise.allSettled(waiting);
    broker.announce(2_000, listener);
    expect(await broker.find(2_000)).toEqual(listener);
  });
});
