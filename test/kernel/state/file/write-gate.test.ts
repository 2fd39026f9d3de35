import { Worker } from "node:worker_threads";
import { expect, it, onTestFinished, vi } from "vitest";
import {
  holdWrites,
  passGate,
  threadExited,
} from "../../../../src/kernel/state/file/write-gate.ts";

it("a write that has begun ends before the step, and one that comes meanwhile begins after it", async () => {
  const [earlier, opening] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const order: string[] = [];
  const begun = passGate(async () => {
    await earlier.promise;
    order.push("earlier write");
  });
  const held = holdWrites(10_000, async () => {
    order.push("step begins");
    await opening.promise;
    order.push("step ends");
  });
  const waiting = passGate(async () => void order.push("later write"));
  earlier.resolve();
  await begun;
  await vi.waitFor(() => expect(order).toContain("step begins"), { timeout: 60_000 });
  opening.resolve();
  await Promise.all([held, waiting]);
  expect(order).toEqual(["earlier write", "step begins", "step ends", "later write"]);
});

it("writes go on when the step fails, when a write fails, and when a write does not end in time", async () => {
  await expect(holdWrites(1_000, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  await expect(passGate(() => Promise.reject(new Error("full")))).rejects.toThrow("full");
  const endless = Promise.withResolvers<void>();
  const slow = passGate(() => endless.promise);
  await expect(holdWrites(5, () => Promise.resolve())).rejects.toMatchObject({
    code: "not_ready",
    message: "a write has not ended within 5 ms",
  });
  expect(await passGate(() => Promise.resolve("written"))).toBe("written");
  endless.resolve();
  await slow;
  expect(await holdWrites(1_000, () => Promise.resolve("held"))).toBe("held");
});

it("two that hold the writes do so until both have ended", async () => {
  const [one, other] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const held = [one, other].map(({ promise }) => holdWrites(1_000, () => promise));
  const write = vi.fn(() => Promise.resolve());
  const written = passGate(write);
  one.resolve();
  await held[0];
  expect(write).not.toHaveBeenCalled();
  other.resolve();
  await written;
});

/** A thread that writes when it is asked to. */
function writingThread(write: string): { readonly worker: Worker; readonly heard: string[] } {
  const gate = new URL("../../../../src/kernel/state/file/write-gate.ts", import.meta.url).href;
  const worker = new Worker(
    `
    import { parentPort } from "node:worker_threads";
    import { passGate } from ${JSON.stringify(gate)};
    parentPort.on("message", () => {
      parentPort.postMessage("asked");
      void passGate(async () => ${write});
    });
    parentPort.postMessage("ready");`,
    { eval: true, execArgv: ["--input-type=module", "--disable-warning=ExperimentalWarning"] },
  );
  onTestFinished(async () => void (await worker.terminate()));
  const heard: string[] = [];
  worker.on("message", (message: string) => heard.push(message));
  return { worker, heard };
}

it("writes of other threads are held too", async () => {
  const { worker, heard } = writingThread(`parentPort.postMessage("written")`);
  await expect.poll(() => heard).toEqual(["ready"]);
  const opening = Promise.withResolvers<void>();
  const held = holdWrites(1_000, () => opening.promise);
  worker.postMessage("write");
  worker.postMessage("write");
  // Not held, the first would be written before the second is asked for.
  await expect.poll(() => heard.length).toBeGreaterThan(2);
  expect(heard).toEqual(["ready", "asked", "asked"]);
  opening.resolve();
  await held;
  await expect.poll(() => heard).toEqual(["ready", "asked", "asked", "written", "written"]);
});

it("writes can be held after a thread was terminated in the middle of one", async () => {
  const { worker, heard } = writingThread(`{
    parentPort.postMessage("begun");
    await new Promise(() => {});
  }`);
  worker.postMessage("write");
  await expect.poll(() => heard).toContain("begun");
  await expect(holdWrites(5, () => Promise.resolve())).rejects.toMatchObject({ code: "not_ready" });
  const { threadId } = worker;
  await worker.terminate();
  threadExited(threadId);
  expect(await holdWrites(1_000, () => Promise.resolve("held"))).toBe("held");
});
