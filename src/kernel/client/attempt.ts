/** One attempt of a call: its time, its traces, and the one place where its outcome is counted. */
import type { Clock } from "../base/clock.ts";
import type { StewardError } from "../base/errors.ts";
import type { Breaker } from "./breaker.ts";
import { createDeadline, type Deadline } from "./deadline.ts";
import type { Traces } from "./exchange.ts";
import { failed, type Failure, type FailureClass, failureOf, named, toFailed } from "./failure.ts";
import { healthOf, type Ledger } from "./ledger.ts";
import type { Skew } from "./skew.ts";
import type { AttemptReport } from "./types.ts";

/** What outcomes are told to. */
export interface AttemptDeps {
  readonly client: string;
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly breaker: Breaker;
  readonly skew: Skew;
  readonly observe: ((report: AttemptReport) => void) | undefined;
}

/** What an attempt begins with. */
export interface AttemptStart {
  readonly operation: string;
  readonly address: URL;
  /** Counted from 1. */
  readonly number: number;
  readonly waitedMs: number;
  readonly limitMs: number;
  /** The caller's. */
  readonly signal: AbortSignal;
  /** Told when it is over. */
  readonly settled: (report: AttemptReport) => void;
}

/** A running attempt. Exactly one of `succeed` and `fail` counts: the first. */
export interface Attempt {
  readonly number: number;
  readonly traces: Traces;
  /** The attempt's time and the caller's signal in one. */
  readonly deadline: Deadline;
  /** Returns the duration in milliseconds. */
  succeed(): number;
  /**
   * The error to throw for what went wrong: the caller's own reason when the caller stopped it,
   * otherwise a named failure.
   */
  fail(error: unknown): unknown;
}

/** Starts the time. */
export function beginAttempt(start: AttemptStart, deps: AttemptDeps): Attempt {
  const { operation, number, waitedMs, limitMs, signal } = start;
  const sentAtMs = deps.clock.monotonic();
  const deadline = createDeadline(deps.clock, limitMs, signal, () =>
    failed({ class: "timeout", status: 0 }, `${Math.round(limitMs)} ms have passed`),
  );
  const traces: Traces = {
    status: 0,
    sent: false,
    credential: undefined,
    answered: (headers) => deps.skew.sample(headers["date"], sentAtMs),
  };
  let settled = false;

  function settle(kind: FailureClass | undefined, message: string | undefined): number {
    const durationMs = deadline.elapsedMs();
    deadline[Symbol.dispose]();
    if (settled) return durationMs;
    settled = true;
    const report: AttemptReport = {
      operation,
      status: traces.status,
      class: kind,
      durationMs,
      waitedMs,
      attempt: number,
    };
    deps.ledger.record(report, message);
    deps.breaker.settle(healthOf(kind));
    deps.observe?.(report);
    start.settled(report);
    return durationMs;
  }

  return {
    number,
    traces,
    deadline,
    succeed: () => settle(undefined, undefined),
    fail(error) {
      if (signal.aborted) {
        settle("cancelled", undefined);
        return signal.reason as unknown;
      }
      const inner = toFailed(error, traces.status);
      const url = start.address.origin + start.address.pathname;
      const failure: Failure = {
        url,
        ...(failureOf(inner) ?? { class: "transport", status: traces.status }),
      };
      const outer = named(inner, failure, deps.client, operation);
      settle(failure.class, outer.message);
      return outer;
    },
  };
}

/** The error of a call that is not even tried. Code `upstream`. */
export function unavailable(client: string, operation: string, waitMs: number): StewardError {
  const failure = { class: "unavailable", status: 0, retryAfterMs: Math.ceil(waitMs) } as const;
  return named(failed(failure), failure, client, operation);
}
