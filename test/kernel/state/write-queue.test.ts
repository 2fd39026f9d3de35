import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import type { Clock } from "../../../src/kernel/base/clock.ts";
import { createStateFactory } from "../../../src/kernel/state/state-factory.ts";
import { QUEUE_CHANGES } from "../../../src/kernel/state/write-queue.ts";
import { numbers, openEnv, quietLog, temporaryFolder } from "./fixtures/tables.ts";

/** A clock whose timers run when the test says so. */
function handClock(): Clock & { fire(): void } {
  const timers = new Set<() => void>();
  return {
    now: () => 0,
    monotonic: () => 0,
    timer(_, run) {
      timers.add(run);
      return { [Symbol.dispose]: () => void timers.delete(run) };
    },
    fire: () => timers.forEach((run) => run()),
  };
}

it("takes ten thousand changes, lets as many wait, refuses the next at once and the waiting ones after five seconds", async () => {
  const clock = handClock();
  const env = await createStateFactory({ directory: temporaryFolder(), clock, log: quietLog }).open({ name: "full", tables: [numbers], schema: 1, derived: false, maxBytes: 2 ** 30 });
  const change = (at: number): Promise<void> => env.write((tx) => tx.put(numbers, at % 10, Uint8Array.of(1)));
  const taken = Array.from({ length: QUEUE_CHANGES }, (_, at) => change(at));
  const waiting = Array.from({ length: QUEUE_CHANGES }, (_, at) => change(at));
  await expect(change(0)).rejects.toMatchObject({ code: "exhausted", rule: "write queue" });
  expect(env.status().queuedWrites).toBe(2 * QUEUE_CHANGES);
  clock.fire();
  const results = await Promise.allSettled([...taken, ...waiting]);
  expect(results.slice(0, QUEUE_CHANGES).every((result) => result.status === "fulfilled")).toBe(true);
  expect(results.slice(QUEUE_CHANGES).every((result) => result.status === "rejected")).toBe(true);
  await env.close();
});

it("lets those that wait in as room comes, in order", async () => {
  const env = await openEnv(temporaryFolder());
  const order: number[] = [];
  await Promise.all(Array.from({ length: QUEUE_CHANGES + 500 }, (_, at) => env.write((tx) => tx.after(() => order.push(at)))));
  expect(order).toEqual(Array.from({ length: QUEUE_CHANGES + 500 }, (_, at) => at));
});

it("counts large changes by their bytes: few of them fill the line", async () => {
  const clock = handClock();
  const env = await createStateFactory({ directory: temporaryFolder(), clock, log: quietLog }).open({ name: "large", tables: [numbers], schema: 1, derived: false, maxBytes: 2 ** 30 });
  const large = (at: number): Promise<void> => env.write((tx) => tx.put(numbers, at % 4, new Uint8Array(1_000_000)));
  for (let at = 0; at < 40; at += 1) await large(at);
  const line = Array.from({ length: 100 }, (_, at) => large(at));
  clock.fire();
  const results = await Promise.allSettled(line);
  const refused = results.filter((result) => result.status === "rejected").length;
  expect(refused).toBeGreaterThan(60);
  expect(refused).toBeLessThan(70);
  await env.close();
});

describe("a guarded change", () => {
  it("is not stored when its guard throws after it, and neither are its effects, its rows or its count; its neighbours are", async () => {
    const env = await openEnv(temporaryFolder());
    let leads = true;
    const effects: string[] = [];
    const guard = (): void => {
      if (!leads) throw new Error("leadership is lost");
    };
    await env.write((tx) => tx.put(numbers, 1, Uint8Array.of(1)), { guard });
    const lost = env.write((tx) => {
      leads = false; // e.g. its lease ends while it runs
      tx.put(numbers, 2, Uint8Array.of(2));
      tx.after(() => effects.push("lost"));
    }, { guard });
    const beside = env.write((tx) => tx.put(numbers, 3, Uint8Array.of(3)));
    await expect(lost).rejects.toThrow("leadership is lost");
    await beside;
    expect(effects).toEqual([]);
    expect(env.read((snapshot) => [...snapshot.range(numbers)].map(([number]) => number))).toEqual([1, 3]);
    expect(env.status()).toMatchObject({ healthy: true, rows: { numbers: 2 } });
    await env.close();
  });
});

it("stores what waits while a bulk writer rests, also when it is closed meanwhile", async () => {
  const factory = createStateFactory({ directory: temporaryFolder(), clock: systemClock, log: quietLog });
  const spec = { tables: [numbers], schema: 1, derived: false, maxBytes: 2 ** 30 };
  const [busy, bulk] = [await factory.open({ name: "busy", ...spec }), await factory.open({ name: "bulk", ...spec })];
  for (let round = 0; round < 20; round += 1) {
    for (let at = 0; at < 10; at += 1) await busy.write((tx) => tx.put(numbers, at, Uint8Array.of(round)));
    await bulk.write((tx) => tx.put(numbers, round, new Uint8Array(500_000)));
  }
  const last = bulk.write((tx) => tx.put(numbers, 99, new Uint8Array(500_000)));
  await bulk.close();
  await last;
  const again = await factory.open({ name: "bulk", ...spec });
  expect(again.status().rows["numbers"]).toBe(21);
  await again.close();
  await busy.close();
});
