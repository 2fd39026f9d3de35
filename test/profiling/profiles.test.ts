import type { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it, vi } from "vitest";
import { systemClock, type Clock } from "../../src/kernel/base/clock.ts";
import { createLog } from "../../src/kernel/base/log.ts";
import { createPool } from "../../src/kernel/pool/pool.ts";
import { createCpuRecorder } from "../../src/profiling/cpu.ts";
import { createHeapSampler } from "../../src/profiling/heap.ts";
import { createProfiles } from "../../src/profiling/profiles.ts";
import { fillAnew, openBusyWorker, turnMill } from "./busy.ts";
import { decodeCompressed, totalOf } from "./decoded.ts";

const NANOSECONDS = 1e6;
const never = new AbortController().signal;
const workers: Worker[] = [];
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.terminate()));
});

describe("Profiles of this process", () => {
  it("show a busy function of this thread and of another by name, with about its time, and no idleness", async () => {
    workers.push(await openBusyWorker("miller"));
    const begun = Promise.withResolvers<void>();
    const clock: Clock = {
      ...systemClock,
      timer(atMs, run) {
        begun.resolve();
        return systemClock.timer(atMs, run);
      },
    };
    const profiles = createProfiles({ clock, heap: createHeapSampler(systemClock) });
    const recording = profiles.cpu(6_000, never);
    // It waits for its end once all threads were told to begin.
    await begun.promise;
    turnMill(500);
    const late = await openBusyWorker("late");
    workers.push(late);
    const decoded = decodeCompressed(await recording);
    // A busy machine lets the sampler look less often.
    expect(totalOf(decoded, "turnMill", 1) / NANOSECONDS).toBeGreaterThan(150);
    expect(totalOf(decoded, "turnMill", 1) / NANOSECONDS).toBeLessThan(1_500);
    expect(totalOf(decoded, "turnMill", 0)).toBeGreaterThan(2);
    expect(totalOf(decoded, "grindWheel", 1)).toBeGreaterThan(0);
    expect(new Set(decoded.samples.map(({ thread }) => thread))).toEqual(
      new Set(["main", "miller", "late"]),
    );
    const frames = decoded.samples.flatMap(({ stack }) => stack);
    expect(frames.find(({ name }) => name === "turnMill")).toMatchObject({
      file: "test/profiling/busy.ts",
    });
    expect(frames.map(({ name }) => name)).not.toContain("(idle)");
    expect(decoded.durationMs).toBeGreaterThanOrEqual(2_900);
  });

  it("show no thread of the pool that only waits for a task", async () => {
    const pool = createPool({
      clock: systemClock,
      log: createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 }),
      threads: 1,
    });
    await pool.run(
      { name: "double", file: new URL("../kernel/pool/fixtures/double.ts", import.meta.url) },
      [1],
      { signal: never },
    );
    const decoded = decodeCompressed(
      await createProfiles({ clock: systemClock, heap: createHeapSampler(systemClock) }).cpu(
        300,
        never,
      ),
    );
    expect(decoded.samples.flatMap(({ stack }) => stack.map(({ name }) => name))).not.toContain(
      "atomicsWaitLoop",
    );
    await pool.close();
  });

  it("of the CPU are recorded one at a time, and end with who asked for them", async () => {
    const profiles = createProfiles({ clock: systemClock, heap: createHeapSampler(systemClock) });
    const leaving = new AbortController();
    const recording = profiles.cpu(60_000, leaving.signal);
    await expect(profiles.cpu(1_000, never)).rejects.toMatchObject({
      code: "already_running",
      rule: "one_profile",
    });
    leaving.abort(new Error("gone"));
    await expect(recording).rejects.toThrow("gone");
    const gone = AbortSignal.abort(new Error("gone before"));
    await expect(profiles.cpu(1_000, gone)).rejects.toThrow("gone before");
    expect(decodeCompressed(await profiles.cpu(20, never)).types).toHaveLength(2);
  });

  it("leave out a thread that ends while they are recorded", async () => {
    const worker = await openBusyWorker("short");
    const recording = await createCpuRecorder(systemClock).record();
    await worker.terminate();
    expect((await recording.stop()).map(({ thread }) => thread)).not.toContain("short");
  });

  it("hold no more memory after many were left or recorded than after a few", async () => {
    workers.push(await openBusyWorker("leaky"));
    const profiles = createProfiles({ clock: systemClock, heap: createHeapSampler(systemClock) });
    const leave = async (): Promise<void> => {
      await expect(profiles.cpu(60_000, AbortSignal.timeout(20))).rejects.toThrow("timeout");
      await profiles.cpu(5, never);
    };
    for (let round = 0; round < 5; round += 1) await leave();
    const beforeBytes = process.memoryUsage.rss();
    for (let round = 0; round < 20; round += 1) await leave();
    // Recordings that go on in the worker hold 10 MB each and more.
    expect((process.memoryUsage.rss() - beforeBytes) / 1e6).toBeLessThan(100);
  });

  it("of the heap show who holds memory, on every thread, while the sampler runs", async () => {
    const heap = createHeapSampler(systemClock);
    const profiles = createProfiles({ clock: systemClock, heap });
    expect(decodeCompressed(await profiles.heap()).samples).toEqual([]);
    await heap.start(never, () => undefined);
    const barn = fillStore();
    const farm = await openBusyWorker("farm");
    workers.push(farm);
    // The sampler of a thread begins after the thread, and does not see what was held before.
    const decoded = await vi.waitFor(
      async () => {
        await fillAnew(farm);
        const seen = decodeCompressed(await profiles.heap());
        expect(totalOf(seen, "fillBarn", 0)).toBeGreaterThan(0);
        return seen;
      },
      { timeout: 60_000 },
    );
    expect(barn).toHaveLength(300_000);
    expect(totalOf(decoded, "fillStore", 0)).toBeGreaterThan(4e6);
    expect(decoded.samples.find(({ thread }) => thread === "farm")).toBeDefined();
    await heap.stop(0);
    await heap.stop(0);
    expect(decodeCompressed(await profiles.heap()).samples).toEqual([]);
  });
});

function fillStore(): unknown[] {
  return Array.from({ length: 300_000 }, (_, index) => ({ index, hay: [index] }));
}
