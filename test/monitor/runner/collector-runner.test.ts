import { describe, expect, it } from "vitest";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { failed } from "../../../src/kernel/client/failure.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import { createScheduler } from "../../../src/kernel/supervisor/scheduler.ts";
import type { SeriesScope } from "../../../src/kernel/telemetry/writer/scope.ts";
import { createTelemetryWriter } from "../../../src/kernel/telemetry/writer/writer.ts";
import { defineOperation } from "../../../src/monitor/capability/operation.ts";
import { createCapabilityTracker } from "../../../src/monitor/capability/tracker.ts";
import { apiAvailability, subrequestCoverage } from "../../../src/monitor/catalogue/api.ts";
import {
  checkpointPersistErrors,
  scrapeDurationHistogram,
  scrapeErrors,
} from "../../../src/monitor/catalogue/collection.ts";
import { devicesCount } from "../../../src/monitor/catalogue/devices.ts";
import { createMemoryStore } from "../../../src/monitor/checkpoints/memory-store.ts";
import { overlapMark } from "../../../src/monitor/checkpoints/types.ts";
import {
  defineCollector,
  defineWindowCollector,
  type Collector,
  type CollectWindow,
  type WindowRule,
} from "../../../src/monitor/collectors/collector.ts";
import { defineSection } from "../../../src/monitor/collectors/section.ts";
import type { TimeWindow } from "../../../src/monitor/providers/model.ts";
import { createCollectorRunner } from "../../../src/monitor/runner/collector-runner.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";
import { failing } from "../collectors/fake-provider.ts";
import { networkOptions } from "../collectors/harness.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const never = new AbortController().signal;
const rule: WindowRule = {
  lagMs: 60_000,
  initialLookbackMs: 300_000,
  maxWindowMs: 0,
  overlapMs: 0,
};

const listDevices = defineOperation("listTailnetDevices");
const devicePosture = defineOperation("device_posture");
const section = defineSection("users", { collects: "users", intervalSeconds: 60 });

function collectorOf(collect: CollectWindow, window?: WindowRule): Collector {
  const declared = {
    section,
    name: "sample",
    description: "A sample.",
    operations: [listDevices],
    emits: [devicesCount],
  };
  if (window === undefined)
    return defineCollector({
      ...declared,
      open: () => (tick) => collect(tick, { fromMs: 0, toMs: 0 }).then(() => undefined),
    });
  return defineWindowCollector({ ...declared, window: () => window, open: () => collect });
}

/** A collector at work on a clock that moves by hand; the wall clock can be set apart. */
function running(
  collect: CollectWindow,
  {
    window,
    selfObservability = true,
    before,
    memory,
  }: {
    readonly window?: WindowRule;
    readonly selfObservability?: boolean;
    readonly before?: () => Promise<void>;
    readonly memory?: ReturnType<ReturnType<typeof createMemoryStore>>;
  } = {},
) {
  const clock = createManualClock();
  const wall = { aheadMs: 0 };
  const shown = { ...clock, now: () => clock.now() + wall.aheadMs };
  const lines: string[] = [];
  const log = createLog({
    level: "info",
    format: "text",
    write: (line) => lines.push(line),
    now: () => 0,
  });
  const scope = createTelemetryWriter({ clock: shown }).scope({
    name: "n",
    resource: {},
    constants: {},
  }) as SeriesScope;
  const tracker = createCapabilityTracker({ clock: shown, scope });
  const collector = collectorOf(collect, window);
  const prepared = collector.prepare(networkOptions());
  if (prepared === undefined) throw new Error("it is on");
  const good: string[] = [];
  const store = memory ?? createMemoryStore(shown)("n");
  const runner = createCollectorRunner(
    {
      clock: shown,
      log,
      scope,
      tracker,
      memory: store,
      selfObservability,
      succeeded: (name) => good.push(name),
      ...(before === undefined ? {} : { before }),
    },
    collector,
    prepared,
    collect,
  );
  const scheduler = createScheduler({ clock: shown, log }, { name: "s" });
  scheduler.add(runner.schedule);
  return {
    clock,
    wall,
    lines,
    scope,
    tracker,
    runner,
    scheduler,
    good,
    memory: store,
    start: () => scheduler.start(never, () => undefined),
  };
}

const count = { "os.type": "linux", "vpn.authorized": true, "vpn.external": false };
const value = (scope: SeriesScope, row: Parameters<SeriesScope["series"]>[0]): number[] =>
  [...scope.table.index(row).numbers()].map(
    (number) => scope.table.columns.value[number] ?? Number.NaN,
  );

describe("a collector at work", () => {
  it("waits before its first run only", async () => {
    let [waits, runs] = [0, 0];
    const { clock, start } = running(
      async () => {
        runs += 1;
        await Promise.resolve();
      },
      {
        before: async () => {
          waits += 1;
          await Promise.resolve();
        },
      },
    );
    await start();
    await clock.advance(3 * 60_000 + 3_000);
    expect([waits, runs > 2]).toEqual([1, true]);
  });

  it("runs within three seconds and then every interval, and its levels end when it no longer says them", async () => {
    let runs = 0;
    const { clock, scope, runner, good, start } = running(async ({ sweep }) => {
      runs += 1;
      if (runs < 3) sweep.gauge(devicesCount, runs, count);
      await Promise.resolve();
    });
    await start();
    await clock.advance(3_000);
    expect([runs, good, value(scope, devicesCount)]).toEqual([1, ["sample"], [1]]);
    await clock.advance(MINUTE_MS);
    expect(value(scope, devicesCount)).toEqual([2]);
    await clock.advance(MINUTE_MS);
    expect([runs, scope.series(devicesCount), scope.series(scrapeDurationHistogram)]).toEqual([
      3, 0, 1,
    ]);
    expect(runner.status()).toMatchObject({
      name: "sample",
      runs: 3,
      failures: 0,
      freshness: "ok",
      overdue: false,
      checkpoint: undefined,
      intervalMs: MINUTE_MS,
    });
  });

  it("keeps its levels through failures and loses them after five intervals, and says what each call's outcome says", async () => {
    let fails = false;
    const { clock, scope, runner, tracker, lines, good, start } = running(async (tick) => {
      await tick.call(listDevices, () =>
        fails ? Promise.reject(failing(403)) : Promise.resolve(),
      );
      tick.covered(devicePosture, { tried: 4, failures: ["scope_denied"] });
      tick.sweep.gauge(devicesCount, 1, count);
    });
    await start();
    await clock.advance(3_000);
    expect(
      tracker.operations("sample").map(({ operation, state }) => `${operation} ${state}`),
    ).toEqual(["device_posture scope_denied", "listTailnetDevices supported"]);
    expect(value(scope, subrequestCoverage)).toEqual([0.75]);
    expect([
      scope.series(apiAvailability),
      value(scope, apiAvailability).filter((each) => each === 1),
    ]).toEqual([14, [1, 1]]);
    fails = true;
    await clock.advance(4 * MINUTE_MS);
    expect([
      scope.series(devicesCount),
      scope.series(scrapeErrors),
      value(scope, scrapeErrors),
    ]).toEqual([1, 1, [4]]);
    expect(runner.status()).toMatchObject({
      runs: 5,
      failures: 4,
      consecutiveFailures: 4,
      freshness: "warning",
      last: { error: expect.stringContaining("403") as string },
    });
    await clock.advance(2 * MINUTE_MS);
    expect([scope.series(devicesCount), runner.status().freshness, good]).toEqual([
      0,
      "stale",
      ["sample"],
    ]);
    expect(lines.map((line) => line.replace(/^\S+ /, ""))).toEqual([
      expect.stringMatching(
        /^warn .*the credential is not permitted to make this call; .* name=sample operation=device_posture status=403/,
      ),
      expect.stringMatching(
        /^warn .*collector failed name=sample class=forbidden status=403 .*error=\{"type":"StewardError","code":"upstream","message":"[^"]*403[^"]*"\}\n$/,
      ),
    ]);
    expect(tracker.operations("sample")[1]?.state).toBe("scope_denied");
    fails = false;
    await clock.advance(MINUTE_MS);
    expect(lines.at(-1)).toMatch(
      /info .*collector recovered name=sample failed_runs=6 failed_for=6m0s\n$/,
    );
  });

  it.each([-HOUR_MS, HOUR_MS])(
    "is as fresh and as late as its schedule says after a step of the wall clock by %i ms",
    async (stepMs) => {
      const hung = Promise.withResolvers<void>();
      let runs = 0;
      const { clock, wall, runner, start } = running(async () => {
        runs += 1;
        await (runs === 1 ? undefined : hung.promise);
      });
      await start();
      await clock.advance(3_000);
      wall.aheadMs = stepMs;
      expect(runner.status()).toMatchObject({
        overdue: false,
        freshnessMs: expect.toSatisfy((ms) => ms >= 0 && ms <= 3_000) as number,
        freshness: "ok",
        nextRunInMs: expect.toSatisfy((ms) => ms > 0 && ms <= MINUTE_MS) as number,
      });
      await clock.advance(6 * MINUTE_MS);
      expect(runner.status()).toMatchObject({ overdue: true, freshness: "stale", nextRunInMs: 0 });
      hung.resolve();
    },
  );

  it("calls a mistake of ours a panic and goes on", async () => {
    const { clock, lines, scope, runner, start } = running(() => {
      throw new TypeError("x is undefined");
    });
    await start();
    await clock.advance(2 * MINUTE_MS + 3_000);
    expect([runner.status().runs, value(scope, scrapeErrors)]).toEqual([3, [3]]);
    expect(lines[0]).toMatch(/error .*collector panicked name=sample/);
  });

  it("is given up when it hangs, and what it says afterwards is nothing", async () => {
    const release: (() => void)[] = [];
    const { clock, scope, runner, tracker, start } = running(async (tick) => {
      await new Promise<void>((resolve) => release.push(resolve));
      tick.sweep.gauge(devicesCount, 1, count);
      tick.observed(listDevices, "supported");
    });
    await start();
    await clock.advance(600_000 - 1);
    expect([release.length, runner.status().runs]).toEqual([1, 0]);
    await clock.advance(3_001);
    expect(runner.status()).toMatchObject({
      runs: 1,
      failures: 1,
      last: { error: expect.stringContaining("longer than 600000 ms") as string },
    });
    release[0]?.();
    await clock.advance(1);
    expect([scope.series(devicesCount), tracker.operations("sample")]).toEqual([0, []]);
  });

  it("leaves no trace of a run that the stop cancels", async () => {
    const { clock, scope, runner, tracker, lines, scheduler, start } = running(async (tick) => {
      await tick.call(
        listDevices,
        () =>
          new Promise((_, reject) =>
            tick.signal.addEventListener("abort", () =>
              reject(new StewardError("cancelled", "stop")),
            ),
          ),
      );
    });
    await start();
    await clock.advance(3_000);
    await scheduler.stop(1_000);
    expect([
      runner.status().runs,
      scope.series(scrapeDurationHistogram),
      tracker.operations("sample"),
      lines,
    ]).toEqual([0, 0, [], []]);
  });

  it("says nothing of its runs without self-observability", async () => {
    const { clock, scope, start } = running(() => Promise.reject(failing(500)), {
      selfObservability: false,
    });
    await start();
    await clock.advance(3_000);
    expect([...scope.table.indexes()].map(({ row }) => row.name)).toEqual([]);
  });
});

describe("a collector of windows at work", () => {
  function reading(options: Partial<Parameters<typeof running>[1] & object> = {}) {
    const windows: TimeWindow[] = [];
    const state = { fails: false };
    const at = running(
      (async (_tick, window) => {
        if (state.fails) throw failing(500);
        windows.push(window);
        await Promise.resolve();
      }) satisfies CollectWindow,
      { window: rule, ...options },
    );
    return { ...at, windows, state };
  }

  it("reads one after the other without a gap, the same one again after a failure", async () => {
    const { clock, windows, state, memory, start } = reading();
    await start();
    await clock.advance(MINUTE_MS + 3_000);
    state.fails = true;
    await clock.advance(3 * MINUTE_MS);
    expect(memory.marks.get("sample")).toBe(windows[1]?.toMs);
    state.fails = false;
    await clock.advance(MINUTE_MS);
    expect(windows).toHaveLength(3);
    expect(windows[2]).toEqual({
      fromMs: windows[1]?.toMs,
      toMs: (windows[1]?.toMs ?? 0) + 4 * MINUTE_MS,
    });
    expect((windows[0]?.toMs ?? 0) - (windows[0]?.fromMs ?? 0)).toBe(300_000);
  });

  /** Sizes of the windows of a backlog of hours, in minutes, as `answer` lets them be read. */
  async function catchingUp(answer: (minutes: number, run: number) => Error | undefined) {
    const asked: number[] = [];
    const read: TimeWindow[] = [];
    const store = createMemoryStore(createManualClock())("n");
    const at = running(
      async (_tick, window) => {
        asked.push((window.toMs - window.fromMs) / MINUTE_MS);
        await Promise.resolve();
        const error = answer(asked.at(-1) ?? 0, asked.length - 1);
        if (error !== undefined) throw error;
        read.push(window);
      },
      { window: { ...rule, maxWindowMs: HOUR_MS, overlapMs: 5 * MINUTE_MS }, memory: store },
    );
    await store.marks.set("sample", at.clock.now() - 3 * HOUR_MS);
    await at.start();
    await at.clock.advance(3_000 + 30 * MINUTE_MS);
    return { ...at, asked, read };
  }

  it("reads a backlog whose windows are too large in smaller ones, and is given few that are too large", async () => {
    const { asked, read, lines, memory, clock } = await catchingUp((minutes) =>
      minutes > 25 ? failed({ class: "too_large", status: 200 }) : undefined,
    );
    expect(asked.slice(0, 4)).toEqual([65, 35, 20, 20]);
    expect(asked.filter((minutes) => minutes > 25)).toHaveLength(2);
    for (const [index, { fromMs }] of read.slice(1).entries())
      expect(fromMs).toBe((read[index]?.toMs ?? 0) - 5 * MINUTE_MS);
    expect(asked.at(-1), "the present").toBe(6);
    expect(clock.now() - (memory.marks.get("sample") ?? 0)).toBeLessThan(3 * MINUTE_MS);
    expect(lines.join("")).toContain(
      'next window is shorter name=sample window=1h0m0s next=30m0s remedy="lower collectors.sample.max_window',
    );
  });

  it("reads full windows again after some came too late", async () => {
    const { asked } = await catchingUp((_minutes, run) =>
      run < 7 ? failed({ class: "timeout", status: 0 }) : undefined,
    );
    expect(asked.slice(0, 14).map(Math.round)).toEqual([
      65, 35, 20, 13, 8, 4, 2, 2, 4, 8, 13, 21, 37, 65,
    ]);
  });

  it("goes well when its mark cannot be stored, which is counted", async () => {
    const store = createMemoryStore(createManualClock())("n");
    const { clock, windows, scope, lines, runner, start } = reading({
      memory: {
        ...store,
        marks: {
          get: () => undefined,
          set: () => Promise.reject(new StewardError("disk_full", "no room")),
          replace: () => Promise.reject(new StewardError("disk_full", "no room")),
        },
      },
    });
    await start();
    await clock.advance(MINUTE_MS + 3_000);
    expect([runner.status().failures, value(scope, checkpointPersistErrors)]).toEqual([0, [2]]);
    expect(windows[1]?.fromMs).toBe(windows[0]?.toMs);
    expect(lines.join("")).toContain("cannot store the checkpoint");
  });

  it("loses no time when the clock jumps an hour ahead and back, and its mark follows", async () => {
    const { clock, wall, windows, memory, start } = reading();
    const step = async (ms: number): Promise<void> => {
      await clock.advance(ms);
      expect(memory.marks.get("sample")).toBe(windows.at(-1)?.toMs);
    };
    await start();
    await step(3_000);
    await step(MINUTE_MS);
    const beforeMs = windows.at(-1)?.toMs ?? 0;
    wall.aheadMs = HOUR_MS;
    for (let minute = 0; minute < 10; minute += 1) await step(MINUTE_MS);
    expect(windows.at(-1)?.toMs).toBe(beforeMs + HOUR_MS + 10 * MINUTE_MS);
    wall.aheadMs = 0;
    const read = windows.length;
    for (let minute = 0; minute < 60; minute += 1) await step(MINUTE_MS);
    expect(windows[read]).toEqual({ fromMs: beforeMs, toMs: beforeMs + 11 * MINUTE_MS });
    expect(windows).toHaveLength(read + 60);
    for (let at = read + 1; at < windows.length; at += 1)
      expect(windows[at]?.fromMs).toBe(windows[at - 1]?.toMs);
  });

  it("goes back by as much as a clock that was right steps back", async () => {
    const { clock, wall, windows, start } = reading();
    await start();
    await clock.advance(MINUTE_MS + 3_000);
    const beforeMs = windows.at(-1)?.toMs ?? 0;
    wall.aheadMs = -HOUR_MS;
    await clock.advance(MINUTE_MS);
    expect(windows.at(-1)).toEqual({
      fromMs: beforeMs - HOUR_MS,
      toMs: beforeMs - HOUR_MS + MINUTE_MS,
    });
  });

  it("begins at its lookback when the stored mark is of the future, and replaces it", async () => {
    const store = createMemoryStore(createManualClock())("n");
    const { clock, windows, memory, lines, start } = reading({ memory: store });
    const futureMs = clock.now() + 10 * 365 * 24 * HOUR_MS;
    await store.marks.set("sample", futureMs);
    await store.marks.set(overlapMark("sample"), futureMs);
    await start();
    await clock.advance(3_000);
    expect((windows[0]?.toMs ?? 0) - (windows[0]?.fromMs ?? 0)).toBe(300_000);
    expect([memory.marks.get("sample"), memory.marks.get(overlapMark("sample"))]).toEqual([
      windows[0]?.toMs,
      windows[0]?.toMs,
    ]);
    await clock.advance(MINUTE_MS);
    expect(windows[1]?.fromMs).toBe(windows[0]?.toMs);
    expect(memory.marks.get("sample")).toBe(windows[1]?.toMs);
    expect(lines).toEqual([
      expect.stringContaining(
        `the stored checkpoint of a collector was ahead of the clock and was replaced; after a start, records from before the first window may be missing name=sample stored=${new Date(futureMs).toISOString()}`,
      ),
    ]);
    const second = reading({ memory: store });
    second.wall.aheadMs = 3 * HOUR_MS;
    await second.start();
    await second.clock.advance(3_000);
    expect(second.windows[0]?.fromMs, "after a stop of hours").toBe(windows.at(-1)?.toMs);
  });

  it("keeps a stored mark that is ahead by less than clocks of replicas may differ", async () => {
    const store = createMemoryStore(createManualClock())("n");
    const { clock, windows, lines, start } = reading({ memory: store });
    const markMs = clock.now() + 4 * MINUTE_MS;
    await store.marks.set("sample", markMs);
    await start();
    await clock.advance(3_000 + MINUTE_MS);
    expect([windows.length, store.marks.get("sample"), lines]).toEqual([2, markMs, []]);
    await clock.advance(10 * MINUTE_MS);
    expect(store.marks.get("sample")).toBe(windows.at(-1)?.toMs);
  });

  it("is not stuck while it catches up with a long lookback or after a long stop, and is once its windows gain no more", async () => {
    let fails = false;
    const { clock, wall, runner, memory, start } = running(
      async () => {
        await Promise.resolve();
        if (fails) throw failing(500);
        return undefined;
      },
      { window: { ...rule, initialLookbackMs: 24 * HOUR_MS, maxWindowMs: 30 * MINUTE_MS } },
    );
    wall.aheadMs = 1_000 * HOUR_MS;
    await start();
    await clock.advance(3_000);
    const late: boolean[] = [];
    for (let run = 0; run < 10; run += 1) {
      await clock.advance(MINUTE_MS);
      late.push((runner.status().checkpoint?.lagMs ?? 0) > HOUR_MS);
      expect(runner.status().checkpoint?.stuck).toBe(false);
    }
    expect(late).not.toContain(false);
    fails = true;
    for (let run = 0; run < 4; run += 1) await clock.advance(MINUTE_MS);
    expect(runner.status().checkpoint?.stuck).toBe(true);
    fails = false;
    await clock.advance(MINUTE_MS);
    expect(runner.status().checkpoint?.stuck).toBe(false);
    const again = running(() => Promise.resolve(undefined), { window: rule, memory });
    again.wall.aheadMs = 1_100 * HOUR_MS;
    expect(again.runner.status().checkpoint).toMatchObject({ stuck: false });
  });
});
