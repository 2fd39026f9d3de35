import { expect, it } from "vitest";
import { QueueCount } from "../../../src/kernel/async/queue-count.ts";

it("lets in what fits, counts what does not, and has room again when something leaves", () => {
  const queue = new QueueCount(2);
  expect([queue.enter(), queue.enter(), queue.enter()]).toEqual([true, true, false]);
  expect(queue.status()).toEqual({ held: 2, capacity: 2, dropped: 1 });
  queue.leave(1);
  expect(queue.enter()).toBe(true);
  queue.drop(2);
  expect(queue.status()).toEqual({ held: 0, capacity: 2, dropped: 3 });
});

it("never holds less than nothing", () => {
  const queue = new QueueCount(1);
  queue.leave(5);
  expect(queue.held).toBe(0);
});
