/**
 * Metrics of the gateway, state, pool, jobs and process. Those of the runtime and of telemetry
 * itself are in `self-metrics.ts`.
 */
import { catalogue, defineMetric } from "../catalogue.ts";
import { processMetrics } from "./process-metrics.ts";
import { runtimeMetrics, telemetryMetrics } from "./self-metrics.ts";
import type { AnyRow } from "../types.ts";

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
const LONG_SECONDS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400] as const;

const gateway = { group: "Gateway" } as const;
const state = { group: "State" } as const;
const pool = { group: "Pool" } as const;
const jobs = { group: "Jobs" } as const;

/**
 * `route` is a template, never a path; `method` is set for REST only; `protocol` is rest, connect,
 * grpc or grpc-web; `code` is an HTTP status or the name of a gRPC status.
 */
export const gatewayRequests = defineMetric({
  ...gateway,
  name: "svc.gateway.requests",
  kind: "counter",
  unit: "{request}",
  attributes: ["route", "method", "protocol", "code"],
  help: "Requests answered by route, method, protocol and outcome.",
});
export const gatewayDuration = defineMetric({
  ...gateway,
  name: "svc.gateway.request.duration",
  kind: "histogram",
  unit: "s",
  attributes: ["route", "method", "protocol"],
  bounds: SECONDS,
  help: "Time from receiving the headers of a request to the end of its response.",
});
export const gatewayInFlight = defineMetric({
  ...gateway,
  name: "svc.gateway.requests.in_flight",
  kind: "gauge",
  unit: "{request}",
  help: "Requests in progress, without long-lived streams.",
});
export const gatewayStreams = defineMetric({
  ...gateway,
  name: "svc.gateway.streams",
  kind: "gauge",
  unit: "{stream}",
  help: "Open long-lived streams.",
});
export const gatewayConnections = defineMetric({
  ...gateway,
  name: "svc.gateway.connections",
  kind: "gauge",
  unit: "{connection}",
  help: "Open connections.",
});
/**
 * Requests refused before a handler ran; `share` (owner, stranger or probe) is set when the
 * listener refused.
 */
export const gatewayRefused = defineMetric({
  ...gateway,
  name: "svc.gateway.refused",
  kind: "counter",
  unit: "{request}",
  attributes: ["reason", "share"],
  help: "Requests refused before they reached a handler.",
});

export const stateCommits = defineMetric({
  ...state,
  name: "svc.state.commits",
  kind: "counter",
  unit: "{commit}",
  attributes: ["environment"],
  help: "Changes stored durably.",
});
export const stateCommitDuration = defineMetric({
  ...state,
  name: "svc.state.commit.duration",
  kind: "histogram",
  unit: "s",
  attributes: ["environment"],
  bounds: SECONDS,
  help: "Time from requesting a write until it was durable.",
});
export const stateQueue = defineMetric({
  ...state,
  name: "svc.state.queue.changes",
  kind: "gauge",
  unit: "{change}",
  attributes: ["environment"],
  help: "Changes waiting for their commit.",
});
export const stateSize = defineMetric({
  ...state,
  name: "svc.state.size",
  kind: "gauge",
  unit: "By",
  attributes: ["environment"],
  help: "Bytes on disk.",
});
export const stateLimit = defineMetric({
  ...state,
  name: "svc.state.limit",
  kind: "gauge",
  unit: "By",
  attributes: ["environment"],
  help: "Maximum size of the LMDB environment in bytes.",
});
export const stateRows = defineMetric({
  ...state,
  name: "svc.state.rows",
  kind: "gauge",
  unit: "{row}",
  attributes: ["environment", "table"],
  help: "Rows of a table.",
});

export const stateDiskFree = defineMetric({
  ...state,
  name: "svc.state.disk.free",
  kind: "gauge",
  unit: "By",
  help: "Free bytes of the disk with the state folder.",
});
export const stateDiskSize = defineMetric({
  ...state,
  name: "svc.state.disk.size",
  kind: "gauge",
  unit: "By",
  help: "Size of the disk with the state folder.",
});
export const backupRuns = defineMetric({
  ...state,
  name: "svc.backup.runs",
  kind: "counter",
  unit: "{backup}",
  attributes: ["outcome"],
  help: "Nightly backups by outcome: success (complete and tested), failure.",
  when: "state.backup.enabled",
});
export const backupLastSuccess = defineMetric({
  ...state,
  name: "svc.backup.last_success",
  kind: "gauge",
  unit: "s",
  help: "Time of the newest complete backup, in seconds since 1970; absent before the first.",
  when: "state.backup.enabled",
});

export const poolThreads = defineMetric({
  ...pool,
  name: "svc.pool.threads",
  kind: "gauge",
  unit: "{thread}",
  help: "Maximum number of worker threads of the pool.",
});
export const poolRunning = defineMetric({
  ...pool,
  name: "svc.pool.tasks.running",
  kind: "gauge",
  unit: "{task}",
  help: "Tasks running.",
});
export const poolQueued = defineMetric({
  ...pool,
  name: "svc.pool.tasks.queued",
  kind: "gauge",
  unit: "{task}",
  help: "Tasks waiting for a thread.",
});
export const poolLimit = defineMetric({
  ...pool,
  name: "svc.pool.tasks.limit",
  kind: "gauge",
  unit: "{task}",
  help: "Maximum number of waiting tasks; further ones are refused.",
});
export const poolCrashes = defineMetric({
  ...pool,
  name: "svc.pool.crashes",
  kind: "counter",
  unit: "{crash}",
  help: "Worker threads that crashed while running a task.",
});

export const jobsTotal = defineMetric({
  ...jobs,
  name: "svc.jobs_total",
  kind: "counter",
  unit: "{job}",
  attributes: ["type", "outcome"],
  help: "Finished jobs by type and outcome.",
});
export const jobsRunning = defineMetric({
  ...jobs,
  name: "svc.jobs.running",
  kind: "gauge",
  unit: "{job}",
  attributes: ["type"],
  help: "Jobs running.",
});
export const jobsDuration = defineMetric({
  ...jobs,
  name: "svc.jobs.duration",
  kind: "histogram",
  unit: "s",
  attributes: ["type"],
  bounds: LONG_SECONDS,
  help: "Run time of finished jobs.",
});

/** All metrics of the process. */
export const processMetricRows: readonly AnyRow[] = catalogue(
  [
    gatewayRequests,
    gatewayDuration,
    gatewayInFlight,
    gatewayStreams,
    gatewayConnections,
    gatewayRefused,
  ],
  [stateCommits, stateCommitDuration, stateQueue, stateSize, stateLimit, stateRows],
  [stateDiskFree, stateDiskSize, backupRuns, backupLastSuccess],
  [poolThreads, poolRunning, poolQueued, poolLimit, poolCrashes],
  [jobsTotal, jobsRunning, jobsDuration],
  runtimeMetrics,
  telemetryMetrics,
  processMetrics,
);
