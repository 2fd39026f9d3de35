/** Follows a job's events to its end, also past a restart of the server. */
import type { Job } from "../../../src/gen/dedup-json.ts";
import { now } from "./clock.ts";
import { createPoller } from "./poller.ts";

/** Waits between attempts to open the stream double, from 3 s. */
const FIRST_WAIT_MS = 3_000;
const MAX_WAIT_MS = 60_000;
/** Of reading the job. An attempt as a whole has none: the browser may try for long to connect. */
const TIMEOUT_MS = 15_000;

/** One event of `GET /api/v1/jobs/{id}/progress`. */
export interface JobEvent {
  readonly progress: number;
  readonly message: string;
  readonly status: string;
  readonly errorMessage?: string;
}

interface JobStreamDeps {
  progress(event: JobEvent): void;
  /** The stream broke off; it is opened again. */
  lost(): void;
  /** Undefined for a job that the API does not know. */
  ended(event: JobEvent | undefined): void;
}

/**
 * Calls `ended` once. The browser opens a stream again that broke off, but gives up for good when
 * the answer is a refusal, e.g. of a proxy while Steward restarts: that says nothing about the job.
 */
export function followJob(jobId: string, deps: JobStreamDeps): void {
  const path = `/api/v1/jobs/${encodeURIComponent(jobId)}`;
  const attempts = createPoller<void>(
    {
      fetch: () => attempt(),
      now,
      visible: () => document.visibilityState === "visible",
      answered: () => attempts.pause(),
      changed: () => undefined,
    },
    // The poller doubles its interval after the first failure.
    { everyMs: () => FIRST_WAIT_MS / 2, longestMs: MAX_WAIT_MS, timeoutMs: TIMEOUT_MS },
  );
  const looked = (): void => attempts.looked();
  const end = (event: JobEvent | undefined): void => {
    attempts.pause();
    document.removeEventListener("visibilitychange", looked);
    deps.ended(event);
  };
  /** Whether the stream opened; waits as long as the browser itself goes on trying. */
  const open = (): Promise<boolean> =>
    new Promise((resolve) => {
      const stream = new EventSource(`${path}/progress`);
      stream.addEventListener("open", () => resolve(true));
      stream.addEventListener("progress", (event) => deps.progress(eventOf(event)));
      stream.addEventListener("complete", (event) => {
        stream.close();
        end(eventOf(event));
      });
      stream.addEventListener("error", () => {
        deps.lost();
        if (stream.readyState !== EventSource.CLOSED) return;
        resolve(false);
        attempts.resume();
      });
    });
  const attempt = async (): Promise<void> => {
    if (await open()) return;
    const job = await readJob(path);
    if (job === undefined) end(undefined);
    else if (hasEnded(job)) end(lastEventOf(job));
    else throw new Error("the stream of a running job was refused");
  };
  document.addEventListener("visibilitychange", looked);
  attempts.resume();
}

/** Undefined for a job that the API does not know. Rejects when a proxy answers in its stead. */
async function readJob(path: string): Promise<Job | undefined> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const answer = await fetch(path, { cache: "no-store", signal });
  const body = (await answer.json()) as { readonly data?: Job; readonly error?: unknown };
  if (answer.ok && body.data !== undefined) return body.data;
  if (answer.status === 404 && body.error !== undefined) return undefined;
  throw new Error(`the server answered ${answer.status}`);
}

function hasEnded({ status }: Job): boolean {
  return status !== "pending" && status !== "running";
}

function lastEventOf({ progress, progressMessage, status, errorMessage }: Job): JobEvent {
  const failure = errorMessage === null ? {} : { errorMessage };
  return { progress, message: progressMessage, status, ...failure };
}

function eventOf(event: Event): JobEvent {
  return JSON.parse((event as MessageEvent<string>).data) as JobEvent;
}
