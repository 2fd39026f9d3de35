/** Spans of requests: made by the official SDK in the thread that answers, and handed on when they have ended. */
import type { LogFields } from "../base/log.ts";
import type { BegunRequest, EndedRequest } from "./requests.ts";

/** The span of one request. */
export interface RequestSpan {
  /** `trace_id`, for log lines. */
  readonly fields: LogFields;
  /** Runs with the span as the one that log lines below belong to. */
  run<T>(serve: () => T): T;
  end(ended: EndedRequest): void;
}

/** Makes spans. */
export interface Tracing {
  begin(request: BegunRequest): RequestSpan;
}
