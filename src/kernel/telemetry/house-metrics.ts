/** The house's own metrics: gateway, state, pool, jobs, the process; those of the runtime and of telemetry itself are in `self-metrics.ts` (RESOLUTIONS §2, Metric names). */
import { catalogue, defineMetric } from "./catalogue.ts";
import { processMetrics } from "./process-metrics.ts";
import { runtimeMetrics, telemetryMetrics } from "./self-metrics.ts";
import type { AnyRow, Row } from "./types.ts";

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
const LONG_SECONDS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400] as const;

const gateway = { group: "Gateway" } as const;
const state = { group: "State" } as const;
const pool = { group: "Pool" } as const;
const jobs = { group: "Jobs" } as const;

/** Requests answered: `route` is a template, never a path; `method` of REST only; `protocol` rest, connect, grpc or grpc-web; `code` an HTTP status or the name of gRPC's. */
export const gatewayRequests: Row<"route" | "method" | "protocol" | "code", "counter"> = defineMetric({ ...gateway, name: "svc.gateway.requests", kind: "counter", unit: "{request}", attributes: ["route", "method", "protocol", "code"], help: "Requests answered by route, method, protocol and outcome." });
/** Time from the head of a request to the end of its answer. */
export const gatewayDuration: Row<"route" | "method" | "protocol", "histogram"> = defineMetric({ ...gateway, name: "svc.gateway.request.duration", kind: "histogram", unit: "s", attributes: ["route", "method", "protocol"], bounds: SECONDS, help: "Time from receiving the headers of a request to the end of its response." });
/** Requests being answered. */
export const gatewayInFlight: Row<never, "gauge"> = defineMetric({ ...gateway, name: "svc.gateway.requests.in_flight", kind: "gauge", unit: "{request}", help: "Requests in progress, without long-lived streams." });
/** Long-lived streams: watches, server-sent events, reflection. */
export const gatewayStreams: Row<never, "gauge"> = defineMetric({ ...gateway, name: "svc.gateway.streams", kind: "gauge", unit: "{stream}", help: "Open long-lived streams." });
/** Open connections. */
export const gatewayConnections: Row<never, "gauge"> = defineMetric({ ...gateway, name: "svc.gateway.connections", kind: "gauge", unit: "{connection}", help: "Open connections." });
/** Requests refused before a handler saw them; `share` is owner, stranger or probe, for what the listener itself refused a request. */
export const gatewayRefused: Row<"reason" | "share", "counter"> = defineMetric({ ...gateway, name: "svc.gateway.refused", kind: "counter", unit: "{request}", attributes: ["reason", "share"], help: "Requests refused before they reached a handler." });

/** Changes that somebody asked for and that reached the disk; several may share a flush. */
export const stateCommits: Row<"environment", "counter"> = defineMetric({ ...state, name: "svc.state.commits", kind: "counter", unit: "{commit}", attributes: ["environment"], help: "Changes stored durably." });
/** Time a caller waited for durability. */
export const stateCommitDuration: Row<"environment", "histogram"> = defineMetric({ ...state, name: "svc.state.commit.duration", kind: "histogram", unit: "s", attributes: ["environment"], bounds: SECONDS, help: "Time from requesting a write until it was durable." });
/** Changes waiting for a commit. */
export const stateQueue: Row<"environment", "gauge"> = defineMetric({ ...state, name: "svc.state.queue.changes", kind: "gauge", unit: "{change}", attributes: ["environment"], help: "Changes waiting for their commit." });
/** Bytes on disk. */
export const stateSize: Row<"environment", "gauge"> = defineMetric({ ...state, name: "svc.state.size", kind: "gauge", unit: "By", attributes: ["environment"], help: "Bytes on disk." });
/** Bytes an environment may grow to. */
export const stateLimit: Row<"environment", "gauge"> = defineMetric({ ...state, name: "svc.state.limit", kind: "gauge", unit: "By", attributes: ["environment"], help: "Maximum size of the LMDB environment in bytes." });
/** Rows of a table. */
export const stateRows: Row<"environment" | "table", "gauge"> = defineMetric({ ...state, name: "svc.state.rows", kind: "gauge", unit: "{row}", attributes: ["environment", "table"], help: "Rows of a table." });

/** Worker threads a pool may use. */
export const poolThreads: Row<never, "gauge"> = defineMetric({ ...pool, name: "svc.pool.threads", kind: "gauge", unit: "{thread}", help: "Maximum number of worker threads of the pool." });
/** Tasks running. */
export const poolRunning: Row<never, "gauge"> = defineMetric({ ...pool, name: "svc.pool.tasks.running", kind: "gauge", unit: "{task}", help: "Tasks running." });
/** Tasks waiting for a thread. */
export const poolQueued: Row<never, "gauge"> = defineMetric({ ...pool, name: "svc.pool.tasks.queued", kind: "gauge", unit: "{task}", help: "Tasks waiting for a thread." });
/** Tasks that may wait. */
export const poolLimit: Row<never, "gauge"> = defineMetric({ ...pool, name: "svc.pool.tasks.limit", kind: "gauge", unit: "{task}", help: "Maximum number of waiting tasks; further ones are refused." });
/** Worker threads that died. */
export const poolCrashes: Row<never, "counter"> = defineMetric({ ...pool, name: "svc.pool.crashes", kind: "counter", unit: "{crash}", help: "Worker threads that crashed while running a task." });

/** Jobs ended: outcome completed, failed or cancelled. */
export const jobsTotal: Row<"type" | "outcome", "counter"> = defineMetric({ ...jobs, name: "svc.jobs_total", kind: "counter", unit: "{job}", attributes: ["type", "outcome"], help: "Finished jobs by type and outcome." });
/** Jobs running. */
export const jobsRunning: Row<"type", "gauge"> = defineMetric({ ...jobs, name: "svc.jobs.running", kind: "gauge", unit: "{job}", attributes: ["type"], help: "Jobs running." });
/** Run time of ended jobs. */
export const jobsDuration: Row<"type", "histogram"> = defineMetric({ ...jobs, name: "svc.jobs.duration", kind: "histogram", unit: "s", attributes: ["type"], bounds: LONG_SECONDS, help: "Run time of finished jobs." });

/** All rows of the house. */
export const houseMetrics: readonly AnyRow[] = catalogue(
  [gatewayRequests, gatewayDuration, gatewayInFlight, gatewayStreams, gatewayConnections, gatewayRefused],
  [stateCommits, stateCommitDuration, stateQueue, stateSize, stateLimit, stateRows],
  [poolThreads, poolRunning, poolQueued, poolLimit, poolCrashes],
  [jobsTotal, jobsRunning, jobsDuration],
  runtimeMetrics, telemetryMetrics, processMetrics,
);
