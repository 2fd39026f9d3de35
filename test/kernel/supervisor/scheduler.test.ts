import { beforeEach, describe, expect, it } from "vitest";
import { createLog } from "../../../src/kernel/base/log.ts";
import type { Component } from "../../../src/kernel/supervisor/component.ts";
import type { Schedule, Scheduler, Tick } from "../../../src/kernel/supervisor/schedule.ts";
import { createScheduler } from "../../../src/kernel/supervisor/scheduler.ts";
import { createManualClock, type ManualClock } from "./manual-clock.ts";

let clock: ManualClock;
let scheduler: Scheduler & Component;
let lines: string[];
let runs: { readonly name: string; readonly atMs: number }[];
const started = (): Promise<void> => scheduler.start(new AbortController().signal, () => {});

beforeEach(() => {
  clock = createManualClock();
  lines = [];
  runs = [];
  scheduler = createScheduler(
    {
      clock,
      log: createLog({
        level: "debug",
        format: "text",
        now: () => 0,
        write: (line) => lines.push(line),
      }),
    },
    { name: "collectors" },
  );
});

function schedule(name: string, more: Partial<Schedule> = {}): Schedule {
  return {
    name,
    everyMs: 60_000,
    staggerMs: 0,
    overlap: "never",
    history: 3,
    run: async () => void runs.push({ name, atMs: clock.monotonic() }),
    ...more,
  };
}

/** A run that goes on until it is let go, or its signal fires. */
function gate(): { run: (tick: Tick) => Promise<void>; release: () => void; ticks: Tick[] } {
  const ticks: Tick[] = [];
  let release = (): void => {};
  return {
    ticks,
    release: () => release(),
    run: (tick) =>
      new Promise<void>((resolve, reject) => {
        ticks.push(tick);
        release = resolve;
        tick.signal.addEventListener("abort", () => reject(tick.signal.reason as Error));
      }),
  };
}

describe("the times of a schedule", () => {
  it("begin with the start and lie on a grid", async () => {
    scheduler.add(schedule("a"));
    await clock.advance(100_000);
    expect(runs).toEqual([]);
    await started();
    const beganMs = clock.monotonic();
    await clock.advance(150_000);
    expect(runs.map((run) => run.atMs - beganMs)).toEqual([0, 60_000, 120_000]);
    expect(scheduler.status()).toMatchObject([
      { name: "a", phase: "waiting", runs: 3, failures: 0, skipped: 0, nextInMs: 30_000 },
    ]);
  });

  it("spread over the stagger, the same way at every start", async () => {
    for (const name of ["a", "b", "c", "devices", "keys"])
      scheduler.add(schedule(name, { staggerMs: 30_000 }));
    await started();
    const firsts = scheduler.status().map((status) => status.nextInMs ?? -1);
    expect(new Set(firsts).size).toBe(5);
    for (const first of firsts) expect(first).toBeGreaterThanOrEqual(0);
    for (const first of firsts) expect(first).toBeLessThan(30_000);
    const again = createScheduler(
      { clock, log: createLog({ level: "error", format: "text", now: () => 0, write: () => {} }) },
      { name: "again" },
    );
    for (const name of ["a", "b", "c", "devices", "keys"])
      again.add(schedule(name, { staggerMs: 30_000 }));
    await again.start(new AbortController().signal, () => {});
    expect(again.status().map((status) => status.nextInMs)).toEqual(firsts);
  });

  it("say when the run was due, also when the timer came late", async () => {
    const held = gate();
    scheduler.add(schedule("a", { run: held.run }));
    await started();
    await clock.advance(0);
    expect(held.ticks[0]?.scheduledAtMs).toBe(clock.now());
  });

  it("begin anew for a schedule added later", async () => {
    await started();
    await clock.advance(10_000);
    scheduler.add(schedule("late"));
    await clock.advance(60_000);
    expect(runs).toHaveLength(2);
  });
});

describe("a run that takes long", () => {
  it("is not overlapped: what comes due meanwhile is left out and counted", async () => {
    const held = gate();
    scheduler.add(schedule("a", { run: held.run, timeoutMs: 600_000 }));
    await started();
    await clock.advance(150_000);
    expect(held.ticks).toHaveLength(1);
    expect(scheduler.status()).toMatchObject([{ phase: "running", skipped: 2 }]);
    held.release();
    await clock.advance(30_000);
    expect(held.ticks).toHaveLength(2);
    expect(scheduler.status()[0]?.history).toMatchObject([{ outcome: "ok", tookMs: 150_000 }]);
  });

  it("fails after its time, by default the interval", async () => {
    const held = gate();
    scheduler.add(schedule("a", { run: held.run }));
    await started();
    await clock.advance(60_000);
    expect(scheduler.status()[0]?.history).toMatchObject([
      { outcome: "failed", reason: "a took longer than 60000 ms", tookMs: 60_000 },
    ]);
    expect(scheduler.status()).toMatchObject([{ failures: 1 }]);
  });

  it("is made up for once after a sleep, not for every time missed", async () => {
    let asleep = 0;
    const sleepy = { ...clock, monotonic: () => clock.monotonic() + asleep };
    const other = createScheduler(
      {
        clock: sleepy,
        log: createLog({ level: "error", format: "text", now: () => 0, write: () => {} }),
      },
      { name: "sleepy" },
    );
    other.add(schedule("a"));
    await other.start(new AbortController().signal, () => {});
    await clock.advance(30_000);
    asleep = 600_000;
    await clock.advance(60_000);
    expect(runs).toHaveLength(2);
    expect(other.status()).toMatchObject([{ skipped: 10 }]);
  });
});

describe("what a run throws", () => {
  it("is remembered and logged, and the next run comes all the same", async () => {
    let count = 0;
    scheduler.add(
      schedule("a", {
        run: () =>
          ++count === 1 ? Promise.reject(new Error("upstream is gone")) : Promise.resolve(),
      }),
    );
    await started();
    await clock.advance(60_000);
    expect(scheduler.status()[0]?.history).toMatchObject([
      { outcome: "failed", reason: "internal error" },
      { outcome: "ok", reason: undefined },
    ]);
    expect(lines.join("")).toContain("scheduled run failed");
  });

  it("counts also when it is thrown at once", async () => {
    scheduler.add(
      schedule("a", {
        run: () => {
          throw new Error("careless");
        },
      }),
    );
    await started();
    await clock.advance(0);
    expect(scheduler.status()).toMatchObject([{ runs: 1, failures: 1 }]);
  });

  it("is remembered as far as the history goes", async () => {
    scheduler.add(schedule("a"));
    scheduler.add(schedule("b", { history: 0 }));
    await started();
    await clock.advance(600_000);
    expect(scheduler.status().map((status) => [status.runs, status.history.length])).toEqual([
      [11, 3],
      [11, 0],
    ]);
  });
});

describe("pausing", () => {
  it("cancels what runs with the reason, starts nothing, and goes on where the grid is", async () => {
    const held = gate();
    scheduler.add(schedule("a", { run: held.run, timeoutMs: 600_000 }));
    scheduler.add(schedule("b"));
    await started();
    await clock.advance(10_000);
    scheduler.pause("another replica leads");
    await clock.advance(20_000);
    expect(scheduler.status()).toMatchObject([
      {
        phase: "paused",
        nextInMs: undefined,
        history: [{ outcome: "cancelled", reason: "another replica leads" }],
        failures: 0,
      },
      { phase: "paused" },
    ]);
    expect(scheduler.paused()).toBe("another replica leads");
    scheduler.resume();
    expect(scheduler.status()).toMatchObject([
      { phase: "waiting", nextInMs: 30_000 },
      { nextInMs: 30_000 },
    ]);
  });

  it("makes up once for what was due meanwhile", async () => {
    scheduler.add(schedule("b"));
    await started();
    await clock.advance(1000);
    scheduler.pause("standby");
    await clock.advance(600_000);
    expect(runs).toHaveLength(1);
    scheduler.resume();
    await clock.advance(59_000);
    expect(runs).toHaveLength(2);
  });

  it("holds for what is added or started meanwhile", async () => {
    scheduler.pause("standby");
    scheduler.add(schedule("a"));
    await started();
    scheduler.add(schedule("b"));
    await clock.advance(120_000);
    expect(runs).toEqual([]);
    scheduler.resume();
    await clock.advance(0);
    expect(runs.map((run) => run.name).toSorted()).toEqual(["a", "b"]);
  });
});

describe("a handle", () => {
  it("runs now, but neither twice at a time nor while paused or stopped", async () => {
    const held = gate();
    const handle = scheduler.add(schedule("a", { run: held.run, staggerMs: 30_000 }));
    expect(handle.runNow()).toBe(false);
    await started();
    expect([handle.runNow(), handle.runNow()]).toEqual([true, false]);
    scheduler.pause("standby");
    await clock.advance(0);
    expect(handle.runNow()).toBe(false);
    expect(held.ticks).toHaveLength(1);
  });

  it("takes its schedule away and leaves the name free", async () => {
    const held = gate();
    const handle = scheduler.add(schedule("a", { run: held.run }));
    await started();
    await clock.advance(0);
    await handle.remove();
    expect(held.ticks[0]?.signal.aborted).toBe(true);
    expect(scheduler.status()).toEqual([]);
    scheduler.add(schedule("a"));
    await handle.remove();
    expect(scheduler.status()).toHaveLength(1);
  });
});

describe("the end", () => {
  it("cancels what runs, awaits it and leaves no timer", async () => {
    const held = gate();
    const handle = scheduler.add(schedule("a", { run: held.run }));
    scheduler.add(schedule("b"));
    await started();
    await clock.advance(0);
    await scheduler.stop(1000);
    expect(handle.status()).toMatchObject({
      phase: "idle",
      history: [{ outcome: "cancelled", reason: "the process is stopping" }],
    });
    expect(clock.timers()).toBe(0);
    await scheduler.stop(1000);
  });

  it("does not wait longer than it may for a run that does not heed its signal", async () => {
    scheduler.add(schedule("a", { run: () => new Promise(() => {}) }));
    await started();
    await clock.advance(0);
    const stopped = scheduler.stop(1000);
    await clock.advance(1000);
    await stopped;
    expect(scheduler.status()).toMatchObject([{ phase: "running" }]);
  });

  it("is also the end of a scheduler that never started", async () => {
    await scheduler.stop(1000);
  });

  it("refuses our own mistakes", () => {
    scheduler.add(schedule("a"));
    expect(() => scheduler.add(schedule("a"))).toThrow("the schedule a is added once");
    expect(() => scheduler.add(schedule("b", { everyMs: 0 }))).toThrow("comes again");
    expect(() => scheduler.add(schedule("b", { history: 1001 }))).toThrow("remembers 0 to 1000");
  });
});
