import { Worker } from "node:worker_threads";
import { once } from "node:events";
import { expect, it } from "vitest";
import { createFence, fenceOf } from "../../../src/kernel/base/fence.ts";

it("is closed at first, opens for a time, and is closed at once", () => {
  const clock = { now: () => 1_000 };
  const fence = createFence(clock);
  expect(fence.isOpen()).toBe(false);
  fence.openFor(60_000);
  expect(fence.isOpen()).toBe(true);
  fence.openFor(0);
  expect(fence.isOpen()).toBe(false);
  fence.openFor(60_000);
  fence.close();
  expect(fence.isOpen()).toBe(false);
});

it("closes when the wall clock passes the end, as after a sleep of the machine, and stays open when it is set back", () => {
  let nowMs = 1_000_000;
  const fence = createFence({ now: () => nowMs });
  fence.openFor(60_000);
  nowMs -= 500_000;
  expect(fence.isOpen()).toBe(true);
  nowMs = 1_059_999;
  expect(fence.isOpen()).toBe(true);
  nowMs = 1_060_000;
  expect(fence.isOpen()).toBe(false);
});

it("closes by the monotonic clock although the wall clock stands still", () => {
  const fence = createFence({ now: () => 1_000 });
  fence.openFor(0.001);
  while (fence.isOpen());
  expect(fence.isOpen()).toBe(false);
});

it("is the same in every thread", async () => {
  const clock = { now: () => Date.now() };
  const fence = createFence(clock);
  fence.openFor(60_000);
  const module = new URL("../../../src/kernel/base/fence.ts", import.meta.url).href;
  const worker = new Worker(
    `const { parentPort, workerData } = require("node:worker_threads");
     import(${JSON.stringify(module)}).then(({ fenceOf }) => {
       const fence = fenceOf(workerData, { now: () => Date.now() });
       const first = fence.isOpen();
       fence.close();
       parentPort.postMessage(first);
     });`,
    { eval: true, workerData: fence.memory },
  );
  expect(await once(worker, "message")).toEqual([true]);
  expect([fence.isOpen(), fenceOf(fence.memory, clock).isOpen()]).toEqual([false, false]);
  await worker.terminate();
});
