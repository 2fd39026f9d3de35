/** Statistics of profile uploads, for the status page and as metrics. */
import type { Clock } from "../kernel/base/clock.ts";
import {
  profilingUploadAttempts,
  profilingUploadConsecutiveFailures,
  profilingUploadDuration,
  profilingUploadFailures,
  profilingUploadLastSuccess,
} from "../kernel/telemetry/report/process-metrics.ts";
import type { Scope } from "../kernel/telemetry/types.ts";
import type { UploadErrorClass } from "./upload-class.ts";

/** This many consecutive failures are an outage. */
const FAILING = 3;
const MILLISECONDS = 1_000;

/** `profiler_upload` of the status, as plain data. */
export interface UploadStatus {
  readonly attempts: number;
  readonly failures: number;
  readonly consecutiveFailures: number;
  /** Fewer than three consecutive failures. */
  readonly healthy: boolean;
  /** Of the last attempt; 0 before the first. */
  readonly lastDurationSeconds: number;
  /** Milliseconds since 1970; each is kept when the other is set. */
  readonly lastSuccessAtMs: number | undefined;
  readonly lastFailureAtMs: number | undefined;
  /** Of the last failure. */
  readonly lastErrorClass: UploadErrorClass | undefined;
}

export interface UploadStats {
  /** Records a finished attempt; without a class it succeeded. */
  enter(durationMs: number, failure?: UploadErrorClass): void;
  status(): UploadStatus;
}

/** Statistics that are also recorded as metrics of the scope. */
export function createUploadStats(
  clock: Clock,
  scope: Pick<Scope, "add" | "gauge" | "record">,
): UploadStats {
  let status: UploadStatus = {
    attempts: 0,
    failures: 0,
    consecutiveFailures: 0,
    healthy: true,
    lastDurationSeconds: 0,
    lastSuccessAtMs: undefined,
    lastFailureAtMs: undefined,
    lastErrorClass: undefined,
  };
  const report = (): void => {
    scope.gauge(profilingUploadConsecutiveFailures, status.consecutiveFailures, {});
    scope.gauge(profilingUploadLastSuccess, (status.lastSuccessAtMs ?? 0) / MILLISECONDS, {});
  };
  report();
  return {
    enter(durationMs, failure) {
      const consecutiveFailures = failure === undefined ? 0 : status.consecutiveFailures + 1;
      status = {
        ...status,
        attempts: status.attempts + 1,
        failures: status.failures + (failure === undefined ? 0 : 1),
        consecutiveFailures,
        healthy: consecutiveFailures < FAILING,
        lastDurationSeconds: durationMs / MILLISECONDS,
        ...(failure === undefined
          ? { lastSuccessAtMs: clock.now() }
          : { lastFailureAtMs: clock.now(), lastErrorClass: failure }),
      };
      scope.add(profilingUploadAttempts, 1, {});
      scope.record(profilingUploadDuration, durationMs / MILLISECONDS, {});
      if (failure !== undefined) scope.add(profilingUploadFailures, 1, { "error.type": failure });
      report();
    },
    status: () => status,
  };
}
