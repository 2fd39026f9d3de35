import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { createJobs, jobTables } from "../../../src/kernel/jobs/jobs.ts";
import type { AnyJobType } from "../../../src/kernel/jobs/types.ts";
import type { Jobs } from "../../../src/kernel/jobs/types.ts";
import { createStateFactory } from "../../../src/kernel/state/state-factory.ts";
import type { Env } from "../../../src/kernel/state/types.ts";
import { numbers, quietLog, temporaryFolder } from "../state/fixtures/tables.ts";
import { counting, numbered } from "./fixtures/counting.ts";
import { aborted, ended, jobType, openJobs } from "./fixtures/types.ts";
import { spawn } from "../../support/spawn.ts";

const worker = fileURLToPath(new URL("./fixtures/worker.ts", import.meta.url));

/** Runs the worker until it has printed `steps` numbers, then kills it. */
async function runAndKill(
  directory: string,
  mode: "start" | "recover",
  steps: number,
): Promise<void> {
  const child = spawn(process.execPath, [worker, directory, mode], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let seen = 0;
  for await (const _line of createInterface({ input: child.stdout })) {
    seen += 1;
    if (seen === steps) child.kill("SIGKILL");
  }
  expect(seen).toBeGreaterThanOrEqual(steps);
}

/** The jobs of the folder that the worker used. */
async function open(directory: string, ...types: AnyJobType[]): Promise<{ env: Env; jobs: Jobs }> {
  const env = await createStateFactory({ directory, clock: systemClock, log: quietLog }).open({
    name: "jobs",
    tables: [numbered, ...jobTables],
    schema: 1,
    derived: false,
    maxBytes: 2 ** 30,
  });
  onTestFinished(() => env.close());
  return {
    env,
    jobs: createJobs({ env, clock: systemClock, ids: systemIds, log: quietLog }, types),
  };
}

/** What a watcher sees until it is let go. */
async function eventsOf(jobs: Jobs, id: string): Promise<string[]> {
  const seen: string[] = [];
  for await (const { event } of jobs.watch(id, new AbortController().signal)) seen.push(event);
  return seen;
}

describe("a killed process", () => {
  it("leaves a job that goes on from its cursor and ends as if nothing had happened", async () => {
    const directory = temporaryFolder();
    await runAndKill(directory, "start", 40);
    await runAndKill(directory, "recover", 30);
    const { env, jobs } = await open(
      directory,
      counting(() => {}),
    );
    const job = jobs.active("counting");
    expect(job).toMatchObject({ status: "running" });
    await jobs.recover();
    expect(await ended(jobs, job?.id ?? "")).toMatchObject({
      status: "completed",
      progress: 1,
      resultJson: '{"rows":200,"notes":{"even":100,"odd":100}}',
    });
    expect(env.read((snapshot) => snapshot.count(numbered))).toBe(200);
  });

  it("leaves a job that is failed with the reason when its kind cannot be resumed or is not known", async () => {
    for (const types of [[counting(() => {}, "fail")], []]) {
      const directory = temporaryFolder();
      await runAndKill(directory, "start", 3);
      const { jobs } = await open(directory, ...types);
      const id = jobs.active("counting")?.id ?? "";
      await jobs.recover();
      expect(jobs.get(id)).toMatchObject({
        status: "failed",
        error: expect.stringMatching(
          types.length === 1
            ? /interrupted by a restart/
            : /does not know jobs of the kind counting/,
        ) as string,
      });
      expect(jobs.active("counting")).toBeUndefined();
    }
  });

  it("is not brought down a fourth time by the same job", async () => {
    const directory = temporaryFolder();
    await runAndKill(directory, "start", 2);
    await runAndKill(directory, "recover", 2);
    await runAndKill(directory, "recover", 2);
    const { jobs } = await open(
      directory,
      counting(() => {}),
    );
    const id = jobs.active("counting")?.id ?? "";
    await jobs.recover();
    expect(jobs.get(id)).toMatchObject({
      status: "failed",
      error: "given up: the process ended 3 times while this job ran",
    });
  });
});

describe("stop", () => {
  it("interrupts what runs, starts nothing more, ends watches, and the next start goes on however often it happens", async () => {
    const directory = temporaryFolder();
    const rounds: number[] = [];
    const type = jobType(async (job) => {
      const round = Number(Buffer.from(job.resume() ?? Buffer.from("0")).toString());
      rounds.push(round);
      if (round === 5) return "done";
      await job.commit(
        (tx) => tx.put(numbers, round, Uint8Array.of(1)),
        Buffer.from(String(round + 1)),
      );
      return aborted(job.signal);
    });
    let id = "";
    for (let round = 0; round < 5; round += 1) {
      const { env, jobs } = await openJobs(directory, type);
      await jobs.recover();
      if (round === 0) ({ id } = await jobs.start(type, ""));
      for await (const { job } of jobs.watch(id, new AbortController().signal)) {
        if (
          job.status === "running" &&
          env.read((snapshot) => snapshot.count(numbers)) === round + 1
        )
          break;
      }
      const watch = eventsOf(jobs, id);
      await jobs.stop(2_000);
      expect(new Set(await watch)).toEqual(new Set(["progress"]));
      expect(jobs.get(id)?.status).toBe("running");
      await expect(jobs.start(type, "")).rejects.toMatchObject({ code: "not_ready" });
      await env.close();
    }
    const { jobs } = await openJobs(directory, type);
    await jobs.recover();
    expect(await ended(jobs, id)).toMatchObject({ status: "completed", resultJson: '"done"' });
    expect(rounds).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("gives up waiting at its deadline for a job that does not listen, whose later changes are refused", async () => {
    const leave = Promise.withResolvers<void>();
    const late = Promise.withResolvers<unknown>();
    const begun = Promise.withResolvers<void>();
    const type = jobType(async (job) => {
      begun.resolve();
      await leave.promise;
      late.resolve(
        await job
          .commit((tx) => tx.put(numbers, 1, Uint8Array.of(1)))
          .catch((error: unknown) => error),
      );
    });
    const { jobs } = await openJobs(temporaryFolder(), type);
    await jobs.start(type, "");
    await begun.promise;
    await jobs.stop(20);
    leave.resolve();
    expect(await late.promise).toMatchObject({ code: "cancelled", message: "Steward is stopping" });
  });
});
