import { describe, expect, it } from "vitest";
import { jobHandlers, jobProgressRoute } from "../../../src/dedup/api/jobs.ts";
import {
  JobOperation,
  JobService,
  JobStatus,
  JobType,
} from "../../../src/gen/steward/dedup/v1/jobs_pb.ts";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import type { Job, JobEvent, JobQuery, Jobs } from "../../../src/kernel/jobs/types.ts";
import { plainRequest } from "../../kernel/plain-request.ts";
import { createHandClock } from "../store-bench.ts";
import { gather } from "../archives/reading.ts";
import { ask, call, follow } from "./calling.ts";

const running: Job = {
  id: "one",
  type: "sync",
  status: "running",
  progress: 0.25,
  phaseProgress: 0.5,
  message: "reading",
  createdAtMs: 1_000,
  startedAtMs: 2_000,
  completedAtMs: undefined,
  error: undefined,
  resultJson: undefined,
  exclusive: "sync",
};
const completed: Job = {
  ...running,
  status: "completed",
  progress: 1,
  phaseProgress: undefined,
  message: "done",
  completedAtMs: 3_000,
  resultJson: '{"inserted":2,"errors":[],"status":"no"}',
};
const failed: Job = {
  ...running,
  id: "two",
  type: "delete_non_primary",
  status: "failed",
  error: "why",
};

function jobsOf(
  all: readonly Job[],
  events: readonly JobEvent[] = [],
): Jobs & { readonly queries: JobQuery[] } {
  const queries: JobQuery[] = [];
  return {
    queries,
    list: (query) => (queries.push(query), [...all]),
    get: (id) => all.find((job) => job.id === id),
    cancel: (id) =>
      id === "one"
        ? Promise.resolve({ ...running, status: "cancelled" })
        : Promise.reject(new StewardError("not_found", "no such job")),
    async *watch() {
      yield* events;
    },
    active: () => undefined,
    start: () => Promise.reject(new Error("unused")),
    recover: () => Promise.resolve(),
    stop: () => Promise.resolve(),
  };
}

const clock = createHandClock();

describe("jobs over the API", () => {
  it("have the contract's fields, the result as text and as a value", async () => {
    const { data } = await ask(
      jobHandlers({ jobs: jobsOf([running, completed, failed]), clock }),
      JobService.method.listJobs,
      {},
    );
    const [first, second, third] = data;
    expect(first).toMatchObject({
      id: "one",
      type: JobType.SYNC,
      status: JobStatus.RUNNING,
      progress: 0.25,
      phaseProgress: 0.5,
      progressMessage: "reading",
      operation: JobOperation.UNSPECIFIED,
      createdAt: { seconds: 1n },
    });
    expect([first?.completedAt, first?.errorMessage, first?.resultJson, first?.result]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(second).toMatchObject({
      status: JobStatus.COMPLETED,
      resultJson: completed.resultJson,
      completedAt: { seconds: 3n },
    });
    expect(second?.result?.kind.case).toBe("structValue");
    expect(third).toMatchObject({
      type: JobType.BATCH_OPERATION,
      operation: JobOperation.DELETE_NON_PRIMARY,
      status: JobStatus.FAILED,
      errorMessage: "why",
    });
  });

  it("are filtered by wire type, operation and status; filters that exclude each other find nothing", async () => {
    const jobs = jobsOf([running]);
    const list = (request: object): Promise<{ data: unknown[] }> =>
      ask(jobHandlers({ jobs, clock }), JobService.method.listJobs, request);
    await list({});
    await list({ type: JobType.SYNC, limit: 200 });
    await list({ type: JobType.BATCH_OPERATION, status: JobStatus.FAILED });
    await list({ operation: JobOperation.AI_APPLY });
    expect((await list({ type: JobType.SYNC, operation: JobOperation.AI_APPLY })).data).toEqual([]);
    expect(jobs.queries).toEqual([
      { limit: 50 },
      { limit: 200, types: ["sync"] },
      { limit: 50, types: ["ai_processing", "ai_apply", "delete_non_primary"], status: "failed" },
      { limit: 50, types: ["ai_apply"] },
    ]);
  });

  it("are read, cancelled and not found", async () => {
    const service = jobHandlers({ jobs: jobsOf([running]), clock });
    expect((await ask(service, JobService.method.getJob, { jobId: "one" })).data?.id).toBe("one");
    expect((await ask(service, JobService.method.cancelJob, { jobId: "one" })).data).toMatchObject({
      jobId: "one",
      status: JobStatus.CANCELLED,
    });
    await expect(ask(service, JobService.method.getJob, { jobId: "x" })).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(ask(service, JobService.method.cancelJob, { jobId: "x" })).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(follow(service, JobService.method.watchJob, { jobId: "x" })).rejects.toMatchObject(
      { code: "not_found" },
    );
  });

  it("are watched to their end", async () => {
    const service = jobHandlers({
      jobs: jobsOf(
        [running],
        [
          { event: "progress", job: running },
          { event: "complete", job: completed },
        ],
      ),
      clock,
    });
    const [first, last, ...more] = await follow(service, JobService.method.watchJob, {
      jobId: "one",
    });
    expect(first).toMatchObject({
      event: "progress",
      progress: 0.25,
      phaseProgress: 0.5,
      message: "reading",
      status: JobStatus.RUNNING,
    });
    expect(first?.result).toBeUndefined();
    expect(last).toMatchObject({
      event: "complete",
      status: JobStatus.COMPLETED,
      result: { inserted: 2 },
    });
    expect(more).toEqual([]);
  });

  it("stream as server-sent events whose last frame spreads the result without losing its own keys", async () => {
    const route = jobProgressRoute({
      jobs: jobsOf(
        [running],
        [
          { event: "progress", job: running },
          { event: "complete", job: completed },
        ],
      ),
      clock,
    });
    const request = plainRequest({ params: { job_id: "one" } });
    const answer = await route.handle(request, call);
    expect(answer).toMatchObject({
      status: 200,
      headers: {
        "content-type": "text/event-stream",
        "cache-control": "no-store",
        "x-accel-buffering": "no",
      },
    });
    expect(await gather(answer.body as AsyncIterable<string>)).toEqual([
      'event: progress\ndata: {"progress":0.25,"phaseProgress":0.5,"message":"reading","status":"running"}\n\n',
      'event: complete\ndata: {"progress":1,"phaseProgress":null,"message":"done","status":"completed","errorMessage":null,"inserted":2,"errors":[]}\n\n',
    ]);
    await expect(route.handle({ ...request, params: { job_id: "x" } }, call)).rejects.toMatchObject(
      { code: "not_found" },
    );
  });
});
