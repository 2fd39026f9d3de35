/**
 * Statistics of control plane calls by endpoint; a logical call counts once, whatever its attempts.
 */
import { failureClasses } from "../../kernel/client/failure.ts";
import type { CallReport } from "../../kernel/client/types.ts";

/** Durations kept per endpoint. */
const RECENT = 60;
/** Endpoint names are constants in this source; more is a programming error. */
const MAX_ENDPOINTS = 256;
const RATE_LIMITED = 429;

/** Times are milliseconds since 1970. */
export interface EndpointCalls {
  readonly endpoint: string;
  readonly requests: number;
  /** Calls without a usable response. */
  readonly errors: number;
  /** Attempts after the first. */
  readonly retries: number;
  /** Calls that ended with 429. */
  readonly rateLimited: number;
  /** 0 when there was no response. */
  readonly lastStatus: number;
  readonly lastAtMs: number;
  readonly last429AtMs: number | undefined;
  /** Why the last call had no response; undefined when it had one. */
  readonly lastError: string | undefined;
  /** Oldest first. */
  readonly recentMs: readonly number[];
}

export interface CallLedger {
  /** Cancelled calls are not counted. */
  observe(report: CallReport): void;
  /** By endpoint. */
  rows(): readonly EndpointCalls[];
}

/** `now` is wall time in milliseconds. */
export function createCallLedger(now: () => number): CallLedger {
  const calls = new Map<string, EndpointCalls>();
  return {
    observe(report) {
      if (
        report.class === "cancelled" ||
        (!calls.has(report.operation) && calls.size >= MAX_ENDPOINTS)
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
