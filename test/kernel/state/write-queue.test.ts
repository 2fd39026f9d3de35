import { expect, it } from "vitest";
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
