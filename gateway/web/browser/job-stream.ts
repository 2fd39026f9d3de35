/** Follows a job's events; the browser opens a stream that broke off again. */

/** One event of `GET /api/v1/jobs/{id}/progress`. */
interface JobEvent {
  readonly progress: number;
  readonly message: string;
  readonly status: string;
  readonly errorMessage?: string;
}

export interface JobStreamDeps {
  progress(event: JobEvent): void;
  /** The stream broke off; it is opened again. */
  lost(): void;
  /** Undefined when the stream ended without its last event, e.g. for a job that is unknown. */
  ended(event: JobEvent | undefined): void;
}

/** Calls `ended` once. */
export function followJob(jobId: string, deps: JobStreamDeps): void {
  const stream = new EventSource(`/api/v1/jobs/${encodeURIComponent(jobId)}/progress`);
  stream.addEventListener("progress", (event) => deps.progress(eventOf(event)));
  stream.addEventListener("complete", (event) => {
    stream.close();
    deps.ended(eventOf(event));
  });
  stream.addEventListener("error", () => {
    if (stream.readyState === EventSource.CLOSED) deps.ended(undefined);
    else deps.lost();
  });
}

function eventOf(event: Event): JobEvent {
  return JSON.parse((event as MessageEvent<string>).data) as JobEvent;
}
