/**
 * What became of calls of the control plane, by endpoint: one logical call counts once, with all
 * its attempts.
 */
import { failureClasses } from "../../kernel/client/failure.ts";
import type { CallReport } from "../../kernel/client/types.ts";

/** Durations kept of each endpoint. */
const RECENT = 60;
/** Endpoints are names in our own source; more would be our own mistake. */
const MOST_ENDPOINTS = 256;
const RATE_LIMITED = 429;

/** The calls of an endpoint; times are milliseconds since 1970. */
export interface EndpointCalls {
  readonly endpoint: string;
  readonly requests: number;
  /** Calls without an answer that could be used. */
  readonly errors: number;
  /** Attempts after the first of each. */
  readonly retries: number;
  /** Calls that ended with 429. */
  readonly rateLimited: number;
  /** 0 when there was no answer. */
  readonly lastStatus: number;
  readonly lastAtMs: number;
  readonly last429AtMs: number | undefined;
  /** Why the last call got no answer, in words of our own; undefined when it got one. */
  readonly lastError: string | undefined;
  /** Durations of the last calls, oldest first. */
  readonly recentMs: readonly number[];
}

/** Counts calls. */
export interface CallLedger {
  /** What was cancelled did not finish and is not counted. */
  observe(report: CallReport): void;
  /** By endpoint. */
  rows(): readonly EndpointCalls[];
}

/** An empty ledger; `now` is wall time in milliseconds. */
export function createCallLedger(now: () => number): CallLedger {
  const calls = new Map<string, EndpointCalls>();
  return {
    observe(report) {
      if (
        report.class === "cancelled" ||
        (!calls.has(report.operation) && calls.size >= MOST_ENDPOINTS)
      )
        return;
      calls.set(report.operation, added(calls.get(report.operation), report, now()));
    },
    rows: () =>
      [...calls.values()].toSorted((left, right) => (left.endpoint < right.endpoint ? -1 : 1)),
  };
}

function added(
  before: EndpointCalls | undefined,
  { operation, status, class: kind, attempts, durationMs }: CallReport,
  nowMs: number,
): EndpointCalls {
  const {
    requests = 0,
    errors = 0,
    retries = 0,
    rateLimited = 0,
    last429AtMs,
    recentMs = [],
  } = before ?? {};
  const limited = status === RATE_LIMITED;
  return {
    endpoint: operation,
    requests: requests + 1,
    errors: errors + (kind === undefined ? 0 : 1),
    retries: retries + Math.max(0, attempts - 1),
    rateLimited: rateLimited + (limited ? 1 : 0),
    lastStatus: status,
    lastAtMs: nowMs,
    last429AtMs: limited ? nowMs : last429AtMs,
    lastError: kind !== undefined && status === 0 ? failureClasses[kind].meaning : undefined,
    recentMs: durationMs > 0 ? [...recentMs, durationMs].slice(-RECENT) : recentMs,
  };
}
