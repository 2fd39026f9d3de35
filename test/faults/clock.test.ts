import { describe, expect, it } from "vitest";
import { createBreaker } from "../../src/kernel/client/call/breaker.ts";
import { refreshing } from "../../src/kernel/client/authorizers.ts";
import { createTokenBucket } from "../../src/kernel/client/call/token-bucket.ts";
import { Secret } from "../../src/kernel/base/secret.ts";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { createJobs, jobTables } from "../../src/kernel/jobs/jobs.ts";
import { createScheduler } from "../../src/kernel/supervisor/scheduler.ts";
import { ended, jobType } from "../kernel/jobs/fixtures/types.ts";
import { openEnv, quietLog, temporaryFolder } from "../kernel/state/fixtures/tables.ts";
import { createManualClock, type ManualClock } from "../kernel/supervisor/manual-clock.ts";

const SECOND = 1_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const never = new AbortController().signal;

/** A jump: how far each clock goes at one moment. No timer runs inside it. */
interface Jump {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/**
 * Facts, reliability D.3 row 8. Wall time here is UTC, where daylight saving is no step at all; who
 * sets local time by hand steps an hour.
 */
const jumps: Readonly<Record<string, Jump>> = {
  "an hour forward": { wallMs: HOUR, monotonicMs: 0 },
  "an hour back, as by a wrong time zone or the end of summer time": {
    wallMs: -HOUR,
    monotonicMs: 0,
  },
  "400 days forward": { wallMs: 400 * DAY, monotonicMs: 0 },
  "400 days back": { wallMs: -400 * DAY, monotonicMs: 0 },
  "a leap second": { wallMs: -SECOND, monotonicMs: 0 },
  "eight hours of sleep that the monotonic clock does not count": {
    wallMs: 8 * HOUR,
    monotonicMs: 0,
  },
  "eight hours of sleep that it counts": { wallMs: 8 * HOUR, monotonicMs: 8 * HOUR },
  "eight hours of sleep and a wall clock that stood still": { wallMs: 0, monotonicMs: 8 * HOUR },
};

interface JumpingClock extends ManualClock {
  jump(by: Jump): void;
}

function createJumpingClock(): JumpingClock {
  const clock = createManualClock();
  let [wallMs, monotonicMs] = [0, 0];
  return {
    ...clock,
    now: () => clock.now() + wallMs,
    monotonic: () => clock.monotonic() + monotonicMs,
    timer: (atMs, run) => clock.timer(atMs - monotonicMs, run),
    jump(by) {
      wallMs += by.wallMs;
      monotonicMs += by.monotonicMs;
    },
  };
}

describe.each(Object.entries(jumps))("%s", (_, jump) => {
  it("brings a schedule at most one run to make up for, and its next ones at its interval", async () => {
    const clock = createJumpingClock();
    const scheduler = createScheduler({ clock, log: quietLog }, { name: "s" });
    const atMs: number[] = [];
    scheduler.add({
      name: "a",
      everyMs: 60 * SECOND,
      staggerMs: 0,
      overlap: "never",
      history: 100,
      run: () => Promise.resolve(void atMs.push(clock.monotonic())),
    });
    await scheduler.start(never, () => undefined);
    await clock.advance(90 * SECOND);
    expect(atMs).toHaveLength(2);
    clock.jump(jump);
    await clock.advance(60 * SECOND);
    expect(atMs.length).toBeGreaterThanOrEqual(3);
    expect(atMs.length).toBeLessThanOrEqual(4);
    const before = atMs.length;
    await clock.advance(10 * 60 * SECOND);
    expect(atMs.length - before).toBe(10);
    for (const { tookMs, startedAtMs, scheduledAtMs } of scheduler.status()[0]?.history ?? []) {
      expect(tookMs).toBeGreaterThanOrEqual(0);
      expect(startedAtMs).toBeGreaterThanOrEqual(scheduledAtMs);
    }
    await scheduler.stop(0);
  });

  it("makes no job end before it began, and none take less than nothing", async () => {
    const clock = createJumpingClock();
    const { promise: open, resolve } = Promise.withResolvers<void>();
    const type = jobType(() => open);
    const env = await openEnv(temporaryFolder(), { tables: jobTables });
    const jobs = createJobs({ env, clock, ids: systemIds, log: quietLog }, [type]);
    const [running, cancelled] = [
      await jobs.start(type, "a"),
      jobType(() => new Promise(() => undefined), { type: "other", exclusive: "other" }),
    ];
    await expect.poll(() => jobs.get(running.id)?.status).toBe("running");
    clock.jump(jump);
    resolve();
    const done = await ended(jobs, running.id);
    expect(done.completedAtMs).toBeGreaterThanOrEqual(done.startedAtMs ?? Infinity);
    expect(done.startedAtMs).toBeGreaterThanOrEqual(done.createdAtMs);
    const others = createJobs({ env, clock, ids: systemIds, log: quietLog }, [type, cancelled]);
    const other = await others.start(cancelled, "b");
    clock.jump(jump);
    const stopped = await others.cancel(other.id);
    expect(stopped.completedAtMs).toBeGreaterThanOrEqual(
      stopped.startedAtMs ?? stopped.createdAtMs,
    );
  });

  it("lets no credential live longer than it was given for", async () => {
    const clock = createJumpingClock();
    let fetched = 0;
    const fetch = (): Promise<{ token: Secret; expiresAtMs: number }> =>
      Promise.resolve({
        token: Secret.of(`t${(fetched += 1)}`, "test"),
        expiresAtMs: clock.now() + HOUR,
      });
    const auth = refreshing({ fetch, earlyMs: 60 * SECOND, fetchMs: SECOND }, clock);
    await auth.authorization(never);
    await clock.advance(30 * 60 * SECOND);
    clock.jump(jump);
    await clock.advance(30 * 60 * SECOND);
    await auth.authorization(never);
    expect(fetched).toBe(2);
    // And the new one is believed, whatever the clock says now.
    await auth.authorization(never);
    expect(fetched).toBe(2);
  });

  it("neither opens a rate limit nor shuts it", async () => {
    const clock = createJumpingClock();
    const bucket = createTokenBucket({ capacity: 2, perSecond: 1, waiting: 10 }, clock);
    await bucket.take(never);
    await bucket.take(never);
    const waits: number[] = [];
    clock.jump({ ...jump, monotonicMs: 0 });
    for (let count = 0; count < 3; count += 1) void bucket.take(never).then((ms) => waits.push(ms));
    await clock.advance(3 * SECOND);
    expect(waits).toEqual([1 * SECOND, 2 * SECOND, 3 * SECOND]);
  });

  it("leaves a tripped breaker open for its time", () => {
    const clock = createJumpingClock();
    const breaker = createBreaker({ failures: 1, coolMs: 30 * SECOND }, clock);
    breaker.settle("trouble");
    clock.jump({ ...jump, monotonicMs: 0 });
    expect(breaker.admit()).toBe(30 * SECOND);
  });
});
