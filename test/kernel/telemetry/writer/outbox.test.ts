import { describe, expect, it } from "vitest";
import { listBatch, Outbox } from "../../../../src/kernel/telemetry/writer/outbox.ts";
import { createManualClock } from "../../supervisor/manual-clock.ts";

function open(capacity = 5, perMessage = 3) {
  const clock = createManualClock();
  const posted: (readonly number[])[] = [];
  const outbox = new Outbox<number>({
    clock,
    capacity,
    perMessage,
    batch: () => listBatch((items) => void posted.push(items)),
  });
  const add = (...items: number[]): void => items.forEach((item) => outbox.add(() => item));
  return { clock, posted, outbox, add };
}

describe("An outbox", () => {
  it("takes nothing while nobody wants anything, and does not even make it", () => {
    const { outbox, posted } = open();
    outbox.add(() => expect.unreachable());
    outbox.open();
    outbox.flush();
    expect([posted, outbox.status()]).toEqual([[], { held: 0, capacity: 5, dropped: 0, lost: 0 }]);
  });

  it("keeps what comes before its port, then sends it in order", () => {
    const { outbox, posted, add } = open();
    outbox.want(true);
    add(1, 2, 3, 4);
    expect(posted).toEqual([]);
    outbox.open();
    expect(posted).toEqual([[1, 2, 3], [4]]);
  });

  it("sends a full message at once and a begun one after 100 ms", async () => {
    const { outbox, posted, add, clock } = open();
    outbox.want(true);
    outbox.open();
    add(1, 2, 3, 4);
    expect(posted).toEqual([[1, 2, 3]]);
    await clock.advance(99);
    expect(posted.length).toBe(1);
    await clock.advance(1);
    expect(posted).toEqual([[1, 2, 3], [4]]);
  });

  it("drops the newest when what waits and what is under way fill it, until some is acknowledged", () => {
    const { outbox, posted, add } = open();
    outbox.want(true);
    outbox.open();
    add(1, 2, 3, 4, 5, 6);
    expect(outbox.status()).toMatchObject({ held: 5, dropped: 1 });
    outbox.acknowledge(3);
    add(7);
    outbox.flush();
    expect(posted).toEqual([
      [1, 2, 3],
      [4, 5, 7],
    ]);
    outbox.acknowledge(100);
    expect(outbox.status().held).toBe(0);
  });

  it("loses with its port what was under way, counted, and keeps what waits for the next", () => {
    const { outbox, posted, add } = open();
    outbox.want(true);
    outbox.open();
    add(1, 2, 3, 4);
    outbox.close();
    expect(outbox.status()).toEqual({ held: 1, capacity: 5, dropped: 0, lost: 3 });
    add(5);
    outbox.open();
    expect(posted).toEqual([
      [1, 2, 3],
      [4, 5],
    ]);
  });

  it("forgets what waits, counted, when it is no longer wanted", () => {
    const { outbox, add } = open();
    outbox.want(true);
    add(1, 2);
    outbox.want(false);
    expect(outbox.status()).toMatchObject({ held: 0, dropped: 2 });
  });
});
