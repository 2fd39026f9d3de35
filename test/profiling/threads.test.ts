import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { createCpuRecorder } from "../../src/profiling/cpu.ts";
import { createHeapSampler } from "../../src/profiling/heap.ts";
import { inspectThreads, type InspectedThread } from "../../src/profiling/threads.ts";
import { testFolder } from "../kernel/listen/test-certificates.ts";
import { createManualClock, type ManualClock } from "../kernel/supervisor/manual-clock.ts";
import { openBusyWorker } from "./busy.ts";

const never = new AbortController().signal;
const hasPipes = spawnSync("mkfifo", ["--version"]).status === 0;

describe("The threads of this process", () => {
  it("are found by their names, those that start later too, and go when they end", async () => {
    const first = await openBusyWorker("first");
    const joined: string[] = [];
    const threads = await inspectThreads(({ name }) => joined.push(name));
    const unnamed = new Worker(
      "setInterval(() => undefined, 1000); require('node:worker_threads').parentPort.postMessage('up')",
      { eval: true },
    );
    await new Promise((resolve) => unnamed.once("message", resolve));
    while (joined.length < 3) await setImmediate();
    expect(joined.slice(0, 2)).toEqual(["main", "first"]);
    expect(joined[2]).toMatch(/^(worker \d+|WorkerThread)$/);
    await first.terminate();
    while (threads.list().length > 2) await setImmediate();
    expect(threads.list().map(({ name }) => name)).not.toContain("first");
    threads.close();
    await unnamed.terminate();
  });

  it("answer or refuse by the inspector's protocol, and refuse what they cannot answer any more", async () => {
    const worker = await openBusyWorker("asked");
    const threads = await inspectThreads(() => undefined);
    const asked = threads.list().find(({ name }) => name === "asked") as InspectedThread;
    expect(await asked.ask("Runtime.evaluate", { expression: "40 + 2" })).toMatchObject({
      result: { value: 42 },
    });
    await expect(asked.ask("Nothing.atAll")).rejects.toThrow(/the thread asked refused: .*Nothing/);
    const pending = asked.ask("Runtime.evaluate", {
      expression: "new Promise(() => undefined)",
      awaitPromise: true,
    });
    pending.catch(() => undefined);
    expect(asked.busy()).toBe(true);
    threads.close();
    await expect(pending).rejects.toMatchObject({ code: "not_ready" });
    await worker.terminate();
  });
});

describe.runIf(hasPipes)("A thread that waits outside of JavaScript", () => {
  async function openWaiting(): Promise<{ release: () => Promise<unknown> }> {
    const pipe = join(testFolder(), "pipe");
    execFileSync("mkfifo", [pipe]);
    const worker = new Worker(
      `require("node:worker_threads").parentPort.postMessage("up"); setImmediate(() => require("node:fs").readFileSync(${JSON.stringify(pipe)}))`,
      { eval: true, name: "sleeper" },
    );
    await new Promise((resolve) => worker.once("message", resolve));
    // It is in the read once it does not answer.
    const threads = await inspectThreads(() => undefined);
    const sleeper = threads.list().find(({ name }) => name === "sleeper") as InspectedThread;
    for (let waits = false; !waits;) {
      const answer = sleeper.ask("Runtime.evaluate", { expression: "1" }).then(
        () => false,
        () => false,
      );
      waits = await Promise.race([
        answer,
        new Promise<boolean>((resolve) => setTimeout(resolve, 100, true)),
      ]);
    }
    threads.close();
    return {
      release: () => {
        writeFileSync(pipe, "");
        return worker.terminate();
      },
    };
  }

  async function passing<T>(clock: ManualClock, pending: Promise<T>): Promise<T> {
    const over = new AbortController();
    const watched = pending.finally(() => over.abort());
    while (!over.signal.aborted) {
      // Those that answer have real time to do so; for the one that does not the clock moves on.
      await new Promise((resolve) => setTimeout(resolve, 50));
      await clock.advance(1_000);
    }
    return await watched;
  }

  it("is left out of profiles, and not asked again while it has not answered", async () => {
    const clock = createManualClock();
    const waiting = await openWaiting();
    const recording = await createCpuRecorder(clock).record();
    const profiles = await passing(clock, recording.stop());
    expect(profiles.map(({ thread }) => thread)).toEqual(["main"]);
    const heap = createHeapSampler(clock);
    await heap.start(never, () => undefined);
    // What began the sampling is still on its way there.
    expect((await heap.take()).map(({ thread }) => thread)).toEqual(["main"]);
    await heap.stop(0);
    expect(clock.timers()).toBe(0);
    await waiting.release();
  });
});
