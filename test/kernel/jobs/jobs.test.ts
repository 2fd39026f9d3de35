import { describe, expect, it, vi } from "vitest";
import type { JobRow } from "../../../src/gen/steward/state/v1/jobs_pb.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import { jobs as jobRows, newRow } from "../../../src/kernel/jobs/job-row.ts";
import { createJobs } from "../../../src/kernel/jobs/jobs.ts";
import type { JobContext, JobEvent } from "../../../src/kernel/jobs/types.ts";
import { fastest } from "../../support/fastest.ts";
import { numbers, quietLog, temporaryFolder } from "../state/fixtures/tables.ts";
import { aborted, ended, jobType, openJobs } from "./fixtures/types.ts";

const never = new AbortController().signal;

/** A promise and its ends. */
function gate<T = void>(): PromiseWithResolvers<T> {
  return Promise.withResolvers<T>();
}

describe("a kind of job", () => {
  it("has phases that add up to the whole, or no jobs are made", async () => {
    await expect(
      openJobs(
        temporaryFolder(),
        jobType(() => Promise.resolve(), { phases: { a: 0.5 } }),
      ),
    ).rejects.toThrow("the phases of test add up to 1 and not to 0.5");
  });
});

describe("a job", () => {
  it("goes from pending through running to completed, with its result as JSON", async () => {
    const type = jobType(async (job) => {
      job.phase("load", 2).step(1, "half loaded");
      return Promise.resolve({ greeted: job.input });
    });
    const { jobs } = await openJobs(temporaryFolder(), type);
    const started = await jobs.start(type, "Ada");
    expect(started).toMatchObject({
      type: "test",
      status: "pending",
      progress: 0,
      exclusive: "test",
      startedAtMs: undefined,
    });
    expect(started.id).toMatch(/^[\w-]{21}$/);
    const done = await ended(jobs, started.id);
    expect(done).toMatchObject({
      status: "completed",
      progress: 1,
      resultJson: '{"greeted":"Ada"}',
      error: undefined,
      message: "half loaded",
      phaseProgress: undefined,
    });
    expect(jobs.get(started.id)).toEqual(done);
    expect(done.completedAtMs).toBeGreaterThanOrEqual(done.startedAtMs ?? Infinity);
    expect(jobs.active("test")).toBeUndefined();
  });

  it("fails with the words of a StewardError, and with none of an internal error", async () => {
    const type = jobType((job) =>
      Promise.reject(
        job.input === "ours"
          ? new StewardError("upstream", "the archive is gone")
          : new TypeError("a secret path"),
      ),
    );
    const { jobs } = await openJobs(temporaryFolder(), type);
    expect(await ended(jobs, (await jobs.start(type, "ours")).id)).toMatchObject({
      status: "failed",
      error: "the archive is gone",
      resultJson: undefined,
    });
    expect(await ended(jobs, (await jobs.start(type, "theirs")).id)).toMatchObject({
      status: "failed",
      error: "internal error",
    });
  });

  it("excludes a second one of its name while active, naming the first, also when both start at once", async () => {
    const open = gate();
    const type = jobType(() => open.promise);
    const other = jobType(() => open.promise, { type: "other", exclusive: "other" });
    const { jobs } = await openJobs(temporaryFolder(), type, other);
    const [first, second] = await Promise.allSettled([
      jobs.start(type, "a"),
      jobs.start(type, "b"),
    ]);
    const id = (first as PromiseFulfilledResult<{ id: string }>).value.id;
    expect(second).toMatchObject({ status: "rejected", reason: { code: "already_running" } });
    expect(String((second as PromiseRejectedResult).reason)).toContain(id);
    await jobs.start(other, "c");
    expect(jobs.active("test")?.id).toBe(id);
    open.resolve();
    await ended(jobs, id);
    await ended(jobs, (await jobs.start(type, "d")).id);
  });

  it("keeps the first thousand remarks with their counts", async () => {
    const type = jobType(async (job) => {
      for (let at = 0; at < 1_500; at += 1)
        job.note(at % 3 === 0 ? "empty" : "short", `document ${at}`);
      return Promise.resolve(job.notes());
    });
    const { jobs } = await openJobs(temporaryFolder(), type);
    const { id } = await jobs.start(type, "");
    expect((await ended(jobs, id)).resultJson).toBe('{"empty":500,"short":1000}');
  });

  it.each(["completed", "failed", "cancelled"] as const)(
    "that is %s leaves in its row nothing that only a run reads, and room for its result",
    async (status) => {
      const result = "x".repeat(700 * 1024);
      const type = jobType(async (job) => {
        job.keepWhenCancelled(() => result);
        for (let at = 0; at < 1_000; at += 1) job.note("unreadable", "y".repeat(200));
        await job.commit(() => undefined, Uint8Array.of(1));
        job.phase("work").step(0.5, "stored");
        if (status === "failed") throw new StewardError("upstream", "the archive is gone");
        return status === "cancelled" ? await aborted(job.signal) : result;
      });
      const { env, jobs } = await openJobs(temporaryFolder(), type);
      const { id } = await jobs.start(type, "z".repeat(100 * 1024));
      const rowOf = (): JobRow | undefined => env.read((snapshot) => snapshot.get(jobRows, id));
      if (status === "cancelled") {
        await expect.poll(() => jobs.get(id)?.message, { timeout: 60_000 }).toBe("stored");
        expect(rowOf()?.notes.length).toBe(1_000);
        await jobs.cancel(id);
      }
      const job = await ended(jobs, id);
      await jobs.stop(60_000);
      expect(job).toMatchObject({
        status,
        resultJson: status === "failed" ? undefined : JSON.stringify(result),
      });
      const left = rowOf();
      expect([left?.input.length, left?.cursor, left?.notes]).toEqual([0, undefined, []]);
    },
  );
});

describe("cancel", () => {
  it("takes effect at once, fires the signal within 250 ms and lets nothing land afterwards", async () => {
    expect(await fastest(250, cancelOne)).toBeLessThan(250);
  });

  /** Cancels a job and checks what follows; milliseconds until the job saw it. */
  async function cancelOne(): Promise<number> {
    const running = gate<JobContext<string>>();
    const left = gate<unknown>();
    const type = jobType(async (job) => {
      await job.commit((tx) => tx.put(numbers, 1, Uint8Array.of(1)));
      running.resolve(job);
      await aborted(job.signal).catch(() => {});
      left.resolve(
        await job
          .commit((tx) => tx.put(numbers, 2, Uint8Array.of(1)))
          .catch((error: unknown) => error),
      );
      return "finished all the same";
    });
    const { env, jobs } = await openJobs(temporaryFolder(), type);
    const { id } = await jobs.start(type, "");
    await running.promise;
    const from = performance.now();
    expect(await jobs.cancel(id)).toMatchObject({ id, status: "cancelled" });
    expect(await left.promise).toMatchObject({ code: "cancelled" });
    const seenMs = performance.now() - from;
    await vi.waitFor(async () => expect((await jobs.start(type, "")).status).toBe("pending"), {
      timeout: 60_000,
    });
    expect(jobs.get(id)).toMatchObject({ status: "cancelled", resultJson: undefined });
    expect(env.read((snapshot) => snapshot.get(numbers, 2))).toBeUndefined();
    await jobs.stop(1_000);
    return seenMs;
  }

  it("stops a change that was queued behind it, and not one that was queued before", async () => {
    const running = gate<JobContext<string>>();
    const type = jobType((job) => {
      running.resolve(job);
      return aborted(job.signal);
    });
    const { env, jobs } = await openJobs(temporaryFolder(), type);
    const { id } = await jobs.start(type, "");
    const job = await running.promise;
    const results = await Promise.allSettled([
      job.commit((tx) => tx.put(numbers, 1, Uint8Array.of(1))),
      jobs.cancel(id),
      job.commit((tx) => tx.put(numbers, 2, Uint8Array.of(1))),
    ]);
    expect(results.map((result) => result.status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    expect(env.read((snapshot) => [snapshot.count(numbers), jobs.get(id)?.status])).toEqual([
      1,
      "cancelled",
    ]);
  });

  it("is no failure for the log, and a change that is refused for it is told after the signal", async () => {
    const lines: string[] = [];
    const goOn = gate();
    const running = gate();
    const heard = gate<boolean>();
    const type = jobType(async (job) => {
      running.resolve();
      await goOn.promise;
      await job
        .commit((tx) => tx.put(numbers, 1, Uint8Array.of(1)))
        .catch((error: unknown) => {
          heard.resolve(job.signal.aborted);
          throw error;
        });
    });
    const { env } = await openJobs(temporaryFolder(), type);
    const log = createLog({
      level: "debug",
      format: "json",
      write: (line) => lines.push(line),
      now: () => 0,
    });
    const jobs = createJobs({ env, clock: systemClock, ids: systemIds, log }, [type]);
    const { id } = await jobs.start(type, "");
    await running.promise;
    const cancelled = jobs.cancel(id);
    goOn.resolve();
    expect(await heard.promise).toBe(true);
    await cancelled;
    await jobs.stop(10_000);
    expect(lines).toEqual([]);
    expect(jobs.get(id)).toMatchObject({ status: "cancelled", error: undefined });
  });

  it("leaves a failure in the log that came before it", async () => {
    const lines: string[] = [];
    const type = jobType(() =>
      Promise.reject(new StewardError("cancelled", "the archive gave up")),
    );
    const { env } = await openJobs(temporaryFolder(), type);
    const log = createLog({
      level: "error",
      format: "json",
      write: (line) => lines.push(line),
      now: () => 0,
    });
    const jobs = createJobs({ env, clock: systemClock, ids: systemIds, log }, [type]);
    const { id } = await jobs.start(type, "");
    await vi.waitFor(() => expect(jobs.get(id)?.status).toBe("failed"), { timeout: 60_000 });
    await expect(jobs.cancel(id)).rejects.toMatchObject({ code: "conflict" });
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({
        msg: "a job failed",
        job_id: id,
        error: expect.objectContaining({ message: "the archive gave up" }) as unknown,
      }),
    ]);
  });

  it("hides no failure whose end could not be stored", async () => {
    const lines: string[] = [];
    const { env } = await openJobs(temporaryFolder());
    const type = jobType(() => {
      vi.spyOn(env, "write").mockRejectedValueOnce(
        new StewardError("corrupt", "the store is damaged"),
      );
      return Promise.reject(new StewardError("upstream", "the archive is gone"));
    });
    const log = createLog({
      level: "error",
      format: "json",
      write: (line) => lines.push(line),
      now: () => 0,
    });
    const jobs = createJobs({ env, clock: systemClock, ids: systemIds, log }, [type]);
    await jobs.start(type, "");
    await vi.waitFor(() => expect(lines).toHaveLength(2), { timeout: 60_000 });
    expect(lines).toEqual([
      expect.stringContaining("the archive is gone") as string,
      expect.stringContaining("cannot finish a job") as string,
    ]);
  });

  it("wins or loses against the end of the job as a whole, never half", async () => {
    const type = jobType(() => Promise.resolve("done"));
    const { jobs } = await openJobs(temporaryFolder(), type);
    const seen = new Set<string>();
    for (let round = 0; round < 60; round += 1) {
      const { id } = await jobs.start(type, "");
      for (let turn = 0; turn < round % 12; turn += 1) await new Promise(setImmediate);
      const cancelled = await jobs.cancel(id).then(
        () => true,
        (error: unknown) => (error as StewardError).code,
      );
      const job = await ended(jobs, id);
      expect([true, "conflict"]).toContain(cancelled);
      expect(job.status).toBe(cancelled === true ? "cancelled" : "completed");
      expect(job.resultJson).toBe(cancelled === true ? undefined : '"done"');
      seen.add(job.status);
    }
    expect(seen.has("cancelled")).toBe(true);
  });

  it.each(["cancelled", "completed"])(
    "and its end do not depend on the size of the result: a job that is %s has none that is too large",
    async (status) => {
      const large = "x".repeat(2 ** 20);
      const type = jobType(async (job) => {
        job.keepWhenCancelled(() => large);
        job.phase("work").step(0.5, "working");
        return status === "cancelled" ? await aborted(job.signal) : large;
      });
      const { jobs } = await openJobs(temporaryFolder(), type);
      const { id } = await jobs.start(type, "");
      if (status === "cancelled") {
        await expect.poll(() => jobs.get(id)?.message, { timeout: 60_000 }).toBe("working");
        await jobs.cancel(id);
      }
      expect(await ended(jobs, id)).toMatchObject({ status, error: undefined });
      await jobs.stop(60_000);
      expect(jobs.get(id)).toMatchObject({ status, resultJson: undefined });
    },
  );

  it("answers conflict for a job that has ended and not_found for none", async () => {
    const type = jobType(() => Promise.resolve(1));
    const { jobs } = await openJobs(temporaryFolder(), type);
    const { id } = await jobs.start(type, "");
    await ended(jobs, id);
    await expect(jobs.cancel(id)).rejects.toMatchObject({ code: "conflict" });
    await expect(jobs.cancel("nothing")).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("progress", () => {
  it("adds finished phases to the present one's share and never goes back", async () => {
    const seen: (readonly [number, number | undefined])[] = [];
    const look = gate<(id: string) => void>();
    const type = jobType(async (job) => {
      const show = await look.promise;
      const steps = [
        () => job.phase("load", 4),
        () => job.phase("load", 4).step(2),
        () => job.phase("work"),
        () => job.phase("work").step(3, "still"),
        () => job.phase("work", 10).step(5),
        () => job.phase("load", 4).step(1),
        () => job.phase("work", 10).step(99),
      ];
      for (const step of steps) {
        step();
        show(job.id);
      }
    });
    const { jobs } = await openJobs(temporaryFolder(), type);
    const { id } = await jobs.start(type, "");
    look.resolve((of) => {
      const job = jobs.get(of);
      seen.push([job?.progress ?? -1, job?.phaseProgress]);
    });
    await ended(jobs, id);
    expect(seen.map(([progress]) => Number(progress.toFixed(6)))).toEqual([
      0, 0.1, 0.2, 0.2, 0.6, 0.6, 1,
    ]);
    expect(seen.map(([, inner]) => inner)).toEqual([0, 0.5, undefined, undefined, 0.5, 0.25, 1]);
  });

  it("writes a job that steps all the time at most about four times a second", async () => {
    const type = jobType(async (job) => {
      const phase = job.phase("work", 1_000_000);
      const until = performance.now() + 1_100;
      for (let done = 0; performance.now() < until; done += 1) {
        phase.step(done, `${done}`);
        await new Promise(setImmediate);
      }
    });
    const { env, jobs } = await openJobs(temporaryFolder(), type);
    const write = vi.spyOn(env, "write");
    await ended(jobs, (await jobs.start(type, "")).id);
    // A slow disk takes a single one while the job runs.
    expect(write.mock.calls.length).toBeGreaterThanOrEqual(4);
    expect(write.mock.calls.length).toBeLessThanOrEqual(3 + 5); // start, running, completed, and progress
  });
});

describe("watch", () => {
  it("shows the present state at once, changes as they come, a sign of life while nothing changes, and ends after complete", async () => {
    const step = gate();
    const end = gate();
    const type = jobType(async (job) => {
      await step.promise;
      job.phase("work", 2).step(1, "half");
      await end.promise;
    });
    const { jobs } = await openJobs(temporaryFolder(), type);
    const { id } = await jobs.start(type, "");
    const events = jobs.watch(id, never)[Symbol.asyncIterator]();
    const next = async (): Promise<JobEvent> => (await events.next()).value as JobEvent;
    expect((await next()).event).toBe("progress");
    await vi.waitFor(async () => expect((await next()).job.status).toBe("running"), {
      timeout: 60_000,
    });
    expect(
      await fastest(600, async () => {
        const from = performance.now();
        await next();
        return performance.now() - from;
      }),
    ).toBeLessThan(600);
    step.resolve();
    await vi.waitFor(
      async () => expect((await next()).job).toMatchObject({ progress: 0.6, message: "half" }),
      { timeout: 60_000 },
    );
    end.resolve();
    await vi.waitFor(async () => expect((await next()).event).toBe("complete"), {
      timeout: 60_000,
    });
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });

  it("gives a watcher that did not read only the newest state", async () => {
    const done = gate();
    const type = jobType(async (job) => {
      for (let at = 0; at < 10_000; at += 1) job.phase("work", 10_000).step(at);
      await done.promise;
    });
    const { jobs } = await openJobs(temporaryFolder(), type);
    const { id } = await jobs.start(type, "");
    const events = jobs.watch(id, never)[Symbol.asyncIterator]();
    await events.next();
    await vi.waitFor(() => expect(jobs.get(id)?.progress).toBeGreaterThan(0.99), {
      timeout: 60_000,
    });
    done.resolve();
    await vi.waitFor(() => expect(jobs.get(id)?.status).toBe("completed"), { timeout: 60_000 });
    expect((await events.next()).value).toMatchObject({ event: "complete" });
  });

  it("ends when its signal fires and refuses an unknown job", async () => {
    const type = jobType((job) => aborted(job.signal));
    const { jobs } = await openJobs(temporaryFolder(), type);
    const { id } = await jobs.start(type, "");
    const stop = new AbortController();
    const events = jobs.watch(id, stop.signal)[Symbol.asyncIterator]();
    await events.next();
    await events.next();
    const last = events.next();
    stop.abort();
    expect(await last).toEqual({ done: true, value: undefined });
    await expect(jobs.watch("nothing", never)[Symbol.asyncIterator]().next()).rejects.toMatchObject(
      { code: "not_found" },
    );
    await jobs.stop(1_000);
  });
});

describe("the list of jobs", () => {
  it("is newest first, filtered and limited", async () => {
    const type = jobType((job) =>
      job.input === "bad" ? Promise.reject(new Error("no")) : Promise.resolve(1),
    );
    const other = jobType(() => Promise.resolve(2), { type: "other", exclusive: "other" });
    const { jobs } = await openJobs(temporaryFolder(), type, other);
    const made: string[] = [];
    for (const [kind, input] of [
      [type, "a"],
      [type, "bad"],
      [other, "b"],
      [type, "c"],
    ] as const) {
      const { id } = await jobs.start(kind, input);
      await ended(jobs, id);
      made.unshift(id);
    }
    const list = (query: Parameters<typeof jobs.list>[0]): string[] =>
      jobs.list(query).map((job) => job.id);
    expect(list({ limit: 10 })).toEqual(made);
    expect(list({ limit: 2 })).toEqual(made.slice(0, 2));
    expect(list({ limit: 10, types: ["other"] })).toEqual([made[1]]);
    expect(list({ limit: 10, status: "failed" })).toEqual([made[2]]);
  });

  it("keeps the newest thousand finished jobs", async () => {
    const type = jobType(() => Promise.resolve(1));
    const { env } = await openJobs(temporaryFolder(), type);
    await env.write((tx) => {
      for (let seq = 1; seq <= 1_000; seq += 1) {
        const row = newRow({
          id: `old${seq}`,
          type: "test",
          exclusive: "test",
          input: new Uint8Array(),
          createdAtMs: seq,
          seq,
        });
        tx.put(jobRows, row.id, { ...row, status: "completed" });
      }
    });
    const again = createJobs({ env, clock: systemClock, ids: systemIds, log: quietLog }, [type]);
    for (let at = 0; at < 3; at += 1) await ended(again, (await again.start(type, "")).id);
    expect(env.status().rows["jobs"]).toBe(1_000);
    expect(["old3", "old4"].map((id) => again.get(id)?.status)).toEqual([undefined, "completed"]);
  });
});
