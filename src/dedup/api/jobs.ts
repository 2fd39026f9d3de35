/** Jobs over the API: list, one, cancel, watch as stream and as server-sent events. */
import { Access } from "../../gen/steward/options/v1/options_pb.ts";
import { JobService } from "../../gen/steward/dedup/v1/jobs_pb.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Job, JobEvent, Jobs } from "../../kernel/jobs/types.ts";
import { bindService } from "../../kernel/service.ts";
import type { BoundService, PlainRoute } from "../../kernel/service.ts";
import { frameData, listQuery, showEvent, showJob, showStatus } from "./job-view.ts";
import { eventFrame, withKeepAlive } from "./sse.ts";

export interface JobsApiDeps {
  readonly jobs: Jobs;
  readonly clock: Clock;
}

/** ListJobs, GetJob, CancelJob and WatchJob. */
export function jobHandlers({ jobs }: JobsApiDeps): BoundService {
  return bindService(JobService, {
    listJobs(request) {
      const query = listQuery(request);
      return { data: query === undefined ? [] : jobs.list(query).map(showJob) };
    },
    getJob: ({ jobId }) => ({ data: showJob(jobOf(jobs, jobId)) }),
    async cancelJob({ jobId }) {
      const job = await jobs.cancel(jobId);
      return { data: { jobId: job.id, status: showStatus(job.status) } };
    },
    async *watchJob({ jobId }, call) {
      jobOf(jobs, jobId);
      for await (const event of jobs.watch(jobId, call.signal)) yield showEvent(event);
    },
  });
}

/** The route of the event stream without its handler. */
export const JOB_PROGRESS_ROUTE: Omit<PlainRoute, "handle"> = {
  verb: "GET",
  template: "/api/v1/jobs/{job_id}/progress",
  access: Access.OPERATOR,
  dialect: "dedup",
  longLived: true,
  describe: {
    operationId: "streamJobProgress",
    tag: "JobService",
    text:
      "Streams a job's progress as server-sent events. Each event is `progress` or, at the end, `complete`; its data is a JSON object with " +
      "`progress`, `phaseProgress`, `message` and `status`, and with `complete` also `errorMessage` and the fields of the result.",
    answer: "The events of the job from now on.",
    contentType: "text/event-stream",
    variables: { jobId: "Id of the job." },
  },
};

/**
 * GET /api/v1/jobs/{job_id}/progress: the same events as server-sent events. An unknown job is
 * answered with the error envelope.
 */
export function jobProgressRoute({ jobs, clock }: JobsApiDeps): PlainRoute {
  return {
    ...JOB_PROGRESS_ROUTE,
    async handle(request, call) {
      const { id } = jobOf(jobs, request.params["job_id"] ?? "");
      const body = withKeepAlive((signal) => frames(jobs.watch(id, signal)), clock, call.signal);
      return await Promise.resolve({
        status: 200,
        headers: {
          "content-type": "text/event-stream",
          "cache-control": "no-store",
          "x-accel-buffering": "no",
        },
        body,
      });
    },
  };
}

async function* frames(events: AsyncIterable<JobEvent>): AsyncGenerator<string> {
  for await (const event of events) yield eventFrame(event.event, frameData(event));
}

function jobOf(jobs: Jobs, id: string): Job {
  const job = jobs.get(id);
  if (job === undefined)
    throw new StewardError("not_found", `there is no job ${JSON.stringify(id.slice(0, 40))}`, {
      field: "jobId",
    });
  return job;
}
