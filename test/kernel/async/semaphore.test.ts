import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { createSemaphore } from "../../../src/kernel/async/semaphore.ts";

it("gives as many slots as it has, then lets callers in by the order of their coming", async () => {
  const semaphore = createSemaphore(2);
  const first = await semaphore.acquire();
  await semaphore.acquire();
  const entered: string[] = [];
  const waiting = ["a", "b"].map((name) =>
    semaphore.acquire().then((slot) => {
      entered.push(name);
      return slot;
    }),
  );
  await turn();
  expect(entered).toEqual([]);
  expect([semaphore.held, semaphore.waiting]).toEqual([2, 2]);
  first[Symbol.dispose]();
  await turn();
  expect(entered).toEqual(["a"]);
  (await waiting[0])?.[Symbol.dispose]();
  await waiting[1];
  expect(entered).toEqual(["a", "b"]);
});

it("counts a slot as returned once, however often it is disposed", async () => {
  const semaphore = createSemaphore(2);
  const [first] = [await semaphore.acquire(), await semaphore.acquire()];
  first?.[Symbol.dispose]();
  first?.[Symbol.dispose]();
  expect(semaphore.held).toBe(1);
});

it("gives a free slot without waiting, and none when all are held", () => {
  const semaphore = createSemaphore(1);
  const slot = semaphore.tryAcquire();
  expect(semaphore.tryAcquire()).toBeUndefined();
  slot?.[Symbol.dispose]();
  expect(semaphore.tryAcquire()).toBeDefined();
});

it("forgets a caller whose signal fires", async () => {
  const semaphore = createSemaphore(1);
  const slot = await semaphore.acquire();
  const control = new AbortController();
  const left = semaphore.acquire(control.signal);
  const next = semaphore.acquire();
  control.abort(new Error("enough"));
  await expect(left).rejects.toThrow("enough");
  slot[Symbol.dispose]();
  await next;
  expect([semaphore.held, semaphore.waiting]).toEqual([1, 0]);
});

it("says when its queue is full, and when it no longer is", async () => {
  const semaphore = createSemaphore(1, 1);
  const slot = await semaphore.acquire();
  expect(semaphore.isFull).toBe(false);
  const waiting = semaphore.acquire();
  expect(semaphore.isFull).toBe(true);
  let hasRoom = false;
  const room = semaphore.waitForQueue(new AbortController().signal).then(() => (hasRoom = true));
  await turn();
  expect(hasRoom).toBe(false);
  slot[Symbol.dispose]();
  await waiting;
  await room;
  expect(semaphore.isFull).toBe(false);
});
