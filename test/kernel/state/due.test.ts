import { describe, expect, it, onTestFinished } from "vitest";
import { createDue, dueTables } from "../../../src/kernel/state/due.ts";
import type { Claim, Due } from "../../../src/kernel/state/due.ts";
import type { Env } from "../../../src/kernel/state/types.ts";
import type { Component } from "../../../src/kernel/supervisor/component.ts";
import { createManualClock } from "../supervisor/manual-clock.ts";
import type { ManualClock } from "../supervisor/manual-clock.ts";
import { openEnv, quietLog, temporaryFolder } from "./fixtures/tables.ts";

const never = new AbortController().signal;

interface SteppedClock extends ManualClock {
  step(ms: number): void;
  /** Timers that were set since the start; each look at what is due sets one. */
  armed(): number;
}

/**
 * A clock whose wall time can be stepped on its own, and that lets writes end after each of its
 * timers.
 */
function steppedClock(env: () => Env): SteppedClock {
  const clock = createManualClock();
  let stepMs = 0;
  let armed = 0;
  return {
    ...clock,
    armed: () => armed,
    timer(atMs, run) {
      armed += 1;
      return clock.timer(atMs, run);
    },
    now: () => clock.now() + stepMs,
    step: (ms) => void (stepMs += ms),
    async advance(ms) {
      for (let left = ms; left > 0; left -= 500) {
        await clock.advance(Math.min(500, left));
        await env().write(() => {});
        await env().write(() => {});
      }
    },
  };
}

interface Bench {
  readonly env: Env;
  readonly due: Due;
  readonly clock: SteppedClock;
  /** Batches in the order they were handed over. */
  readonly batches: (readonly string[])[];
  readonly taken: string[];
  readonly start: (
    claim?: Claim,
    options?: { batch: number; parallel: number },
  ) => Promise<Component>;
  readonly set: (timers: Readonly<Record<string, number>>) => Promise<void>;
}

async function createBench(directory = temporaryFolder()): Promise<Bench> {
  const env = await openEnv(directory, { tables: dueTables("lease", 10_000) });
  const clock = steppedClock(() => env);
  const due = createDue({ env, clock, log: quietLog }, "lease", 10_000);
  const batches: (readonly string[])[] = [];
  const taken: string[] = [];
  const takeAll: Claim = (ids) =>
    env.write((tx) => {
      for (const id of ids) if (due.take(tx, id)) tx.after(() => taken.push(id));
    });
  return {
    env,
    due,
    clock,
    batches,
    taken,
    async start(claim = takeAll, options = { batch: 256, parallel: 1 }) {
      const component = due.run((ids, signal) => {
        batches.push(ids);
        return claim(ids, signal);
      }, options);
      onTestFinished(() => component.stop(1));
      await component.start(never, () => {});
      return component;
    },
    set: (timers) =>
      env.write((tx) => {
        for (const [id, inMs] of Object.entries(timers)) due.set(tx, id, clock.now() + inMs);
      }),
  };
}

describe("durable timers", () => {
  it("hand over each id once it is due, in the order of their times, also one that is set earlier than all", async () => {
    const { clock, set, start, taken } = await createBench();
    await set({ late: 5_000, soon: 2_000 });
    await start();
    await clock.advance(1_500);
    expect(taken).toEqual([]);
    await set({ first: 0, second: 100 });
    await clock.advance(1_500);
    expect(taken).toEqual(["first", "second", "soon"]);
    await clock.advance(3_000);
    expect(taken).toEqual(["first", "second", "soon", "late"]);
  });

  it("keep one timer, however many there are", async () => {
    const { clock, set, start } = await createBench();
    await start();
    await set(
      Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`t${at}`, 60_000 + at])),
    );
    expect(clock.timers()).toBe(1);
  });

  it("forget what is cleared or taken with the change alone: one that fails leaves the timer", async () => {
    const { clock, due, env, set } = await createBench();
    await set({ kept: 0, cleared: 0 });
    await expect(
      env.write((tx) => {
        due.take(tx, "kept");
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    expect(
      await env.write((tx) => [
        due.clear(tx, "cleared"),
        due.clear(tx, "cleared"),
        due.take(tx, "cleared"),
        due.take(tx, "unknown"),
      ]),
    ).toEqual([true, false, false, false]);
    expect(env.read((snapshot) => [due.at(snapshot, "kept"), due.at(snapshot, "cleared")])).toEqual(
      [clock.now(), undefined],
    );
    expect(env.status().rows).toEqual({ lease_due: 1, lease_due_at: 1 });
  });

  it("are not taken by a claim that was overtaken: moved and cleared ids say no", async () => {
    const { batches, clock, due, env, set, start, taken } = await createBench();
    await set({ moved: 0, cleared: 0, kept: 0 });
    await start(async (ids) => {
      await env.write((tx) => {
        due.set(tx, "moved", clock.now() + 60_000);
        due.clear(tx, "cleared");
      });
      await env.write((tx) => {
        for (const id of ids) if (due.take(tx, id)) taken.push(id);
      });
    });
    await clock.advance(1_000);
    expect(batches).toEqual([["cleared", "kept", "moved"]]);
    expect(taken).toEqual(["kept"]);
  });

  it("come in batches, no more of them at once than allowed", async () => {
    const { clock, due, env, batches, set, start } = await createBench();
    await set(Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`t${at}`, 0])));
    let now = 0;
    let most = 0;
    await start(
      async (ids) => {
        now += 1;
        most = Math.max(most, now);
        await env.write((tx) => {
          for (const id of ids) due.take(tx, id);
        });
        now -= 1;
      },
      { batch: 256, parallel: 2 },
    );
    await clock.advance(2_000);
    expect(batches.map((ids) => ids.length)).toEqual([256, 256, 256, 232]);
    expect(new Set(batches.flat()).size).toBe(1_000);
    expect(most).toBe(2);
  });

  it("survive a restart, and what fell due meanwhile comes at once", async () => {
    const directory = temporaryFolder();
    const first = await createBench(directory);
    await first.set({ a: 1_000, b: 3_600_000 });
    await first.env.close();
    const second = await createBench(directory);
    second.clock.step(2_000);
    await second.start();
    await second.clock.advance(500);
    expect(second.taken).toEqual(["a"]);
  });

  it("follow steps of the wall clock: forward within ten seconds, and none early after a step back", async () => {
    const { clock, set, start, taken } = await createBench();
    await set({ hour: 3_600_000, minute: 60_000 });
    await start();
    clock.step(3_600_000);
    await clock.advance(10_500);
    expect(taken).toEqual(["minute", "hour"]);
    await set({ next: 5_000 });
    clock.step(-3_600_000);
    await clock.advance(60_000);
    expect(taken).toEqual(["minute", "hour"]);
    clock.step(3_600_000);
    await clock.advance(10_500);
    expect(taken).toEqual(["minute", "hour", "next"]);
  });

  it("go on past an id whose claim fails, which is tried alone, ever more rarely, and shown in the health", async () => {
    const { batches, clock, due, env, set, start, taken } = await createBench();
    await set({ good: 0, poison: 0 });
    let cured = false;
    const component = await start(async (ids) => {
      if (ids.includes("poison") && !cured) throw new Error("poisoned");
      await env.write((tx) => {
        for (const id of ids) if (due.take(tx, id)) taken.push(id);
      });
    });
    await clock.advance(500);
    await set({ later: 0 });
    await clock.advance(1_500);
    expect(taken).toEqual(["later", "good"]);
    expect(component.health?.()).toEqual({
      ok: false,
      reason: "due timers could not be processed: internal error",
    });
    await clock.advance(28_000);
    const tries = batches.filter((ids) => ids.includes("poison"));
    expect(tries[0]).toEqual(["good", "poison"]);
    expect(tries.slice(1).every((ids) => ids.length === 1)).toBe(true);
    expect(tries.length).toBeGreaterThan(3);
    expect(tries.length).toBeLessThan(8);
    cured = true;
    await clock.advance(60_000);
    expect(taken).toContain("poison");
    expect(component.health?.()).toEqual({ ok: true });
  });

  it("do not spin on a claim that leaves its ids lying", async () => {
    const { batches, clock, set, start } = await createBench();
    await set({ lazy: 0 });
    const component = await start(() => Promise.resolve());
    await clock.advance(10_000);
    expect(batches.length).toBeLessThan(6);
    expect(component.health?.()).toMatchObject({
      ok: false,
      reason: expect.stringContaining("still due") as string,
    });
  });

  it("forget the failure of an id that was cleared or moved before its next try", async () => {
    const { clock, due, env, set, start } = await createBench();
    await set({ cleared: 0, moved: 0 });
    const component = await start(() => Promise.reject(new Error("disk")));
    await clock.advance(500);
    expect(component.health?.()).toMatchObject({ ok: false });
    await env.write((tx) => {
      due.clear(tx, "cleared");
      due.set(tx, "moved", clock.now() + 3_600_000);
    });
    await clock.advance(2_000);
    expect(component.health?.()).toEqual({ ok: true });
    const before = clock.armed();
    await clock.advance(30_000);
    expect(clock.armed() - before).toBeLessThan(5);
  });

  it("try again only what a claim left that handled some of its ids and then failed", async () => {
    const { batches, clock, due, env, set, start } = await createBench();
    await set({ first: 0, second: 0, third: 0 });
    let fails = true;
    const component = await start(async (ids) => {
      await env.write((tx) => due.take(tx, ids[0] ?? ""));
      if (fails) throw new Error("disk");
    });
    await clock.advance(500);
    fails = false;
    await clock.advance(4_000);
    expect(batches).toEqual([["first", "second", "third"], ["second"], ["third"]]);
    expect(component.health?.()).toEqual({ ok: true });
    const before = clock.armed();
    await clock.advance(30_000);
    expect(clock.armed() - before).toBeLessThan(5);
  });

  it("wait for a slow second try without looking meanwhile", async () => {
    const { batches, clock, set, start } = await createBench();
    await set({ slow: 0 });
    await start(
      (_, signal) =>
        batches.length === 1
          ? Promise.reject(new Error("disk"))
          : new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
      { batch: 256, parallel: 2 },
    );
    await clock.advance(2_000);
    const before = clock.armed();
    await clock.advance(20_000);
    expect(batches).toEqual([["slow"], ["slow"]]);
    expect(clock.armed() - before).toBeLessThan(5);
  });

  it("are no more at once than allowed, with one that failed among them", async () => {
    const { clock, due, env, batches, set, start } = await createBench();
    await set({ poison: 0 });
    let now = 0;
    let most = 0;
    await start(async (ids) => {
      now += 1;
      most = Math.max(most, now);
      if (ids.includes("long"))
        await new Promise<void>((resolve) => clock.timer(clock.monotonic() + 2_000, resolve));
      const fails = batches.length === 1;
      await env.write((tx) => {
        if (!fails) for (const id of ids) due.take(tx, id);
      });
      now -= 1;
      if (fails) throw new Error("disk");
    });
    await clock.advance(500);
    await set({ long: 0 });
    await clock.advance(500);
    await set({ earlier: -5_000 });
    await clock.advance(3_000);
    expect(env.status().rows).toEqual({ lease_due: 0, lease_due_at: 0 });
    expect(most).toBe(1);
  });

  it("are healthy again once the store can be read, with nothing due", async () => {
    const { clock, env } = await createBench();
    let fails = true;
    const component = createDue(
      {
        env: {
          ...env,
          read: (view) => {
            if (fails) throw new Error("disk");
            return env.read(view);
          },
        },
        clock,
        log: quietLog,
      },
      "lease",
      10_000,
    ).run(() => Promise.resolve(), { batch: 1, parallel: 1 });
    onTestFinished(() => component.stop(1));
    await component.start(never, () => {});
    expect(component.health?.()).toMatchObject({ ok: false });
    fails = false;
    await clock.advance(71_000);
    expect(component.health?.()).toEqual({ ok: true });
  });

  it("stop: the claim that runs is told and waited for, and nothing is handed over afterwards", async () => {
    const { batches, clock, set, start } = await createBench();
    await set({ a: 0 });
    const seen: string[] = [];
    const component = await start(
      (_, signal) =>
        new Promise((resolve) =>
          signal.addEventListener("abort", () => {
            seen.push("told");
            resolve();
          }),
        ),
    );
    await clock.advance(500);
    await component.stop(1_000);
    expect(seen).toEqual(["told"]);
    await set({ b: 0 });
    await clock.advance(30_000);
    expect(batches).toEqual([["a"]]);
    expect(clock.timers()).toBe(0);
    await component.stop(1_000);
  });
});
