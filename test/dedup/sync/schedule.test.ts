import { beforeEach, describe, expect, it } from "vitest";
import type { SyncInput, SyncResult } from "../../../src/dedup/sync/result.ts";
import { createSyncSchedule, type SyncScheduleDeps } from "../../../src/dedup/sync/schedule.ts";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import type { Job, JobStatus, JobType } from "../../../src/kernel/jobs/types.ts";
import type { Scheduler } from "../../../src/kernel/supervisor/schedule.ts";
import { createScheduler } from "../../../src/kernel/supervisor/scheduler.ts";
import type { Component } from "../../../src/kernel/supervisor/component.ts";
import { createManualClock, type ManualClock } from "../../kernel/supervisor/manual-clock.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const job = { type: "sync", exclusive: "sync" } as JobType<SyncInput, SyncResult>;

/** Jobs that end when the test says so. */
class HeldJobs {
  readonly started: SyncInput[] = [];
  readonly cancelled: string[] = [];
  running: string | undefined;
  #end: ((job: Job) => void) | undefined;
  #ended: Promise<Job> | undefined;

  hold(id: string): Job {
    this.running = id;
    this.#ended = new Promise((resolve) => (this.#end = resolve));
    return { id } as Job;
  }

  end(status: JobStatus, error?: string): void {
    this.running = undefined;
    this.#end?.({ status, error } as Job);
  }

  readonly deps: SyncScheduleDeps["jobs"] = {
    active: () => (this.running === undefined ? undefined : ({ id: this.running } as Job)),
    start: (_type, input) => {
      this.started.push(input as SyncInput);
      return Promise.resolve(this.hold(`j${this.started.length}`));
    },
    cancel: (id) => {
      this.cancelled.push(id);
      return Promise.resolve({ id } as Job);
    },
    watch: (_id, signal) => this.#watch(signal),
  };

  async *#watch(signal: AbortSignal): AsyncIterable<{ event: "progress" | "complete"; job: Job }> {
    yield { event: "progress", job: { status: "running" } as Job };
    const left = new Promise<undefined>((resolve) =>
      signal.addEventListener("abort", () => resolve(undefined)),
    );
    const ended = await Promise.race([this.#ended, left]);
    if (ended !== undefined) yield { event: "complete", job: ended };
  }
}

let clock: ManualClock;
let jobs: HeldJobs;
let scheduler: Scheduler & Component;

beforeEach(async () => {
  clock = createManualClock();
  jobs = new HeldJobs();
  scheduler = createScheduler(
    {
      clock,
      log: createLog({ level: "error", format: "text", now: () => 0, write: () => undefined }),
    },
    { name: "schedules" },
  );
  scheduler.add(createSyncSchedule({ jobs: jobs.deps, job }, HOUR));
  await scheduler.start(new AbortController().signal, () => undefined);
});

/** To the first run: a sync follows a start within five minutes, whatever the interval. */
async function first(): Promise<void> {
  await clock.advance(300_000);
  expect(jobs.started).toHaveLength(1);
}

const history = () => scheduler.status()[0]?.history;

describe("a sync by the clock", () => {
  it("is an ordinary one, each interval again", async () => {
    await first();
    jobs.end("completed");
    await clock.advance(HOUR);
    expect(jobs.started).toEqual([
      { force: false, purge: false },
      { force: false, purge: false },
    ]);
    expect(scheduler.status()).toMatchObject([
      { name: "sync", everyMs: HOUR, phase: "running", runs: 1, failures: 0 },
    ]);
  });

  it("never overlaps: one that takes long leaves out what comes due meanwhile", async () => {
    await first();
    await clock.advance(3 * HOUR);
    expect(jobs.started).toHaveLength(1);
    jobs.end("completed");
    await clock.advance(HOUR);
    expect(jobs.started).toHaveLength(2);
    expect(scheduler.status()).toMatchObject([{ skipped: 3, history: [{ outcome: "ok" }] }]);
  });

  it("joins the one that somebody started by hand", async () => {
    jobs.hold("by-hand");
    await clock.advance(300_000);
    expect([jobs.started, scheduler.status()[0]?.phase]).toEqual([[], "running"]);
    jobs.end("completed");
    await clock.advance(0);
    expect(history()).toMatchObject([{ outcome: "ok" }]);
  });

  it("joins also the one that began at the very same moment", async () => {
    const start = jobs.deps.start;
    const deps: SyncScheduleDeps["jobs"] = {
      ...jobs.deps,
      start: async (type, input) => {
        await start(type, input);
        throw new StewardError("already_running", "a sync runs");
      },
    };
    scheduler.add({
      ...createSyncSchedule({ jobs: deps, job }, HOUR),
      name: "other",
      staggerMs: 0,
    });
    await clock.advance(0);
    jobs.end("completed");
    await clock.advance(0);
    expect(scheduler.status()[1]?.history).toMatchObject([{ outcome: "ok" }]);
  });

  it("remembers why it failed, or that it was cancelled", async () => {
    await first();
    jobs.end("failed", "archive papers cannot be read");
    await clock.advance(HOUR);
    jobs.end("cancelled");
    await clock.advance(0);
    expect(history()).toMatchObject([
      { outcome: "failed", reason: "archive papers cannot be read" },
      { outcome: "failed", reason: "the sync was cancelled" },
    ]);
  });

  it("leaves its sync to be resumed when the process stops", async () => {
    await first();
    await scheduler.stop(1_000);
    expect(jobs.cancelled).toEqual([]);
    expect(history()).toMatchObject([{ outcome: "cancelled", reason: "the process is stopping" }]);
  });

  it("cancels a sync that hangs for a day", async () => {
    await first();
    await clock.advance(DAY);
    expect(jobs.cancelled).toEqual(["j1"]);
    expect(history()).toMatchObject([
      { outcome: "failed", reason: `sync took longer than ${DAY} ms` },
    ]);
  });
});
