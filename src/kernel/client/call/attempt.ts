/**
 * One attempt of a call: its time limit, its trace, and the single place where its outcome is
 * counted.
 */
import type { Clock } from "../../base/clock.ts";
import type { StewardError } from "../../base/errors.ts";
import type { Breaker } from "./breaker.ts";
import { createDeadline, type Deadline } from "../../async/deadline.ts";
import type { Traces } from "../http/exchange.ts";
import { failed, type Failure, type FailureClass, failureOf, named, toFailed } from "../failure.ts";
import { healthOf, type Ledger } from "./ledger.ts";
import type { Skew } from "../http/skew.ts";
import type { AttemptReport } from "../types.ts";

/** Called with outcomes. */
export interface AttemptDeps {
  readonly client: string;
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly breaker: Breaker;
  readonly skew: Skew;
  readonly observe: ((report: AttemptReport) => void) | undefined;
}

export interface AttemptStart {
  readonly operation: string;
  readonly method: AttemptReport["method"];
  readonly address: URL;
  /** Counted from 1. */
  readonly number: number;
  readonly waitedMs: number;
  readonly limitMs: number;
  /** The caller's. */
  readonly signal: AbortSignal;
  /** Called when it is over. */
  readonly settled: (report: AttemptReport) => void;
}

/** A running attempt. The first call of `succeed` or `fail` counts. */
export interface Attempt {
  readonly number: number;
  readonly traces: Traces;
  /** Combines the attempt's time limit and the caller's signal. */
  readonly deadline: Deadline;
  /** Returns the duration in milliseconds. */
  succeed(): number;
  /**
   * The error to throw: the caller's own reason when the caller aborted, otherwise a failure with a
   * class.
   */
  fail(error: unknown): unknown;
}

export function beginAttempt(start: AttemptStart, deps: AttemptDeps): Attempt {
  const { operation, method, number, waitedMs, limitMs, signal } = start;
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
      method,
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

/** The error of a call that is not even attempted. Code `upstream`. */
export function unavailable(client: string, operation: string, waitMs: number): StewardError {
  const failure = { class: "unavailable", status: 0, retryAfterMs: Math.ceil(waitMs) } as const;
  return named(failed(failure), failure, client, operation);
}
