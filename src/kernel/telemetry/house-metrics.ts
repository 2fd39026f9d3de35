/** The house's own metrics: gateway, state, pool, jobs, the process and telemetry itself (RESOLUTIONS §2, Metric names). */
import { catalogue, defineMetric } from "./catalogue.ts";
import type { AnyRow, Row } from "./types.ts";

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
const LONG_SECONDS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400] as const;

const gateway = { group: "Gateway" } as const;
const state = { group: "State" } as const;
const pool = { group: "Pool" } as const;
const jobs = { group: "Jobs" } as const;
const self = { group: "Self-observability" } as const;

/** Requests answered: `route` is a template, never a path; `method` of REST only; `protocol` rest, connect, grpc or grpc-web; `code` an HTTP status or the name of gRPC's. */
export const gatewayRequests: Row<"route" | "method" | "protocol" | "code", "counter"> = defineMetric({ ...gateway, name: "svc.gateway.requests", kind: "counter", unit: "{request}", attributes: ["route", "method", "protocol", "code"], help: "Requests answered by route, method, protocol and outcome." });
/** Time from the head of a request to the end of its answer. */
export const gatewayDuration: Row<"route" | "method" | "protocol", "histogram"> = defineMetric({ ...gateway, name: "svc.gateway.request.duration", kind: "histogram", unit: "s", attributes: ["route", "method", "protocol"], bounds: SECONDS, help: "Time from the head of a request to the end of its answer." });
/** Requests being answered. */
export const gatewayInFlight: Row<never, "gauge"> = defineMetric({ ...gateway, name: "svc.gateway.requests.in_flight", kind: "gauge", unit: "{request}", help: "Requests being answered." });
/** Open connections. */
export const gatewayConnections: Row<never, "gauge"> = defineMetric({ ...gateway, name: "svc.gateway.connections", kind: "gauge", unit: "{connection}", help: "Open connections." });
/** Requests refused before a handler saw them. */
export const gatewayRefused: Row<"reason", "counter"> = defineMetric({ ...gateway, name: "svc.gateway.refused", kind: "counter", unit: "{request}", attributes: ["reason"], help: "Requests refused before a handler saw them." });

/** Changes that somebody asked for and that reached the disk; several may share a flush. */
export const stateCommits: Row<"environment", "counter"> = defineMetric({ ...state, name: "svc.state.commits", kind: "counter", unit: "{commit}", attributes: ["environment"], help: "Changes that were stored durably." });
/** Time a caller waited for durability. */
export const stateCommitDuration: Row<"environment", "histogram"> = defineMetric({ ...state, name: "svc.state.commit.duration", kind: "histogram", unit: "s", attributes: ["environment"], bounds: SECONDS, help: "Time from asking for a write until it was durable." });
/** Changes waiting for a commit. */
export const stateQueue: Row<"environment", "gauge"> = defineMetric({ ...state, name: "svc.state.queue.changes", kind: "gauge", unit: "{change}", attributes: ["environment"], help: "Changes waiting for their commit." });
/** Bytes on disk. */
export const stateSize: Row<"environment", "gauge"> = defineMetric({ ...state, name: "svc.state.size", kind: "gauge", unit: "By", attributes: ["environment"], help: "Bytes on disk." });
/** Bytes an environment may grow to. */
export const stateLimit: Row<"environment", "gauge"> = defineMetric({ ...state, name: "svc.state.limit", kind: "gauge", unit: "By", attributes: ["environment"], help: "Bytes the environment may grow to." });
/** Rows of a table. */
export const stateRows: Row<"environment" | "table", "gauge"> = defineMetric({ ...state, name: "svc.state.rows", kind: "gauge", unit: "{row}", attributes: ["environment", "table"], help: "Rows of a table." });

/** Worker threads a pool may use. */
export const poolThreads: Row<never, "gauge"> = defineMetric({ ...pool, name: "svc.pool.threads", kind: "gauge", unit: "{thread}", help: "Worker threads the pool may use." });
/** Tasks running. */
export const poolRunning: Row<never, "gauge"> = defineMetric({ ...pool, name: "svc.pool.tasks.running", kind: "gauge", unit: "{task}", help: "Tasks running." });
/** Tasks waiting for a thread. */
export const poolQueued: Row<never, "gauge"> = defineMetric({ ...pool, name: "svc.pool.tasks.queued", kind: "gauge", unit: "{task}", help: "Tasks waiting for a thread." });
/** Tasks that may wait. */
export const poolLimit: Row<never, "gauge"> = defineMetric({ ...pool, name: "svc.pool.tasks.limit", kind: "gauge", unit: "{task}", help: "Tasks that may wait before callers are refused." });
/** Worker threads that died. */
export const poolCrashes: Row<never, "counter"> = defineMetric({ ...pool, name: "svc.pool.crashes", kind: "counter", unit: "{crash}", help: "Worker threads that died with a task." });

/** Jobs ended: outcome completed, failed or cancelled. */
export const jobsTotal: Row<"type" | "outcome", "counter"> = defineMetric({ ...jobs, name: "svc.jobs_total", kind: "counter", unit: "{job}", attributes: ["type", "outcome"], help: "Jobs ended, by type and outcome." });
/** Jobs running. */
export const jobsRunning: Row<"type", "gauge"> = defineMetric({ ...jobs, name: "svc.jobs.running", kind: "gauge", unit: "{job}", attributes: ["type"], help: "Jobs running." });
/** Run time of ended jobs. */
export const jobsDuration: Row<"type", "histogram"> = defineMetric({ ...jobs, name: "svc.jobs.duration", kind: "histogram", unit: "s", attributes: ["type"], bounds: LONG_SECONDS, help: "Run time of ended jobs." });

/** CPU time by mode, user or system. */
export const processCpuTime: Row<"cpu.mode", "counter"> = defineMetric({ ...self, name: "process.cpu.time", kind: "counter", unit: "s", attributes: ["cpu.mode"], help: "CPU seconds by mode (user, system)." });
/** Age of the process. */
export const processUptime: Row<never, "gauge"> = defineMetric({ ...self, name: "process.uptime", kind: "gauge", unit: "s", help: "Seconds since process start." });
/** Always 1. */
export const up: Row<never, "gauge"> = defineMetric({ ...self, name: "svc.up", kind: "gauge", unit: "1", help: "Always 1." });
/** Constant 1; the labels are what matters. */
export const buildInfo: Row<"version" | "runtime.version", "gauge"> = defineMetric({ ...self, name: "svc.build_info", kind: "gauge", unit: "1", attributes: ["version", "runtime.version"], help: "Constant 1; labels hold the build version and the language runtime version." });
/** Garbage collections of the main thread. */
export const gcCount: Row<never, "counter"> = defineMetric({ ...self, name: "svc.runtime.gc.count", kind: "counter", unit: "1", help: "Completed garbage collections." });
/** Time the main thread stood still for them. */
export const gcPauseTime: Row<never, "counter"> = defineMetric({ ...self, name: "svc.runtime.gc.pause_time", kind: "counter", unit: "s", help: "Accumulated stop-the-world pause." });
/** Cores. */
export const maxProcs: Row<never, "gauge"> = defineMetric({ ...self, name: "svc.runtime.max_procs", kind: "gauge", unit: "1", help: "Parallelism limit of the runtime." });
/** Heap of the main thread in use. */
export const heapAlloc: Row<never, "gauge"> = defineMetric({ ...self, name: "svc.runtime.memory.heap_alloc", kind: "gauge", unit: "By", help: "Heap bytes held by live objects." });
/** Heap of the main thread as reserved. */
export const heapSys: Row<never, "gauge"> = defineMetric({ ...self, name: "svc.runtime.memory.heap_sys", kind: "gauge", unit: "By", help: "Heap bytes reserved from the operating system." });
/** Resident memory of the process. */
export const memorySys: Row<never, "gauge"> = defineMetric({ ...self, name: "svc.runtime.memory.sys", kind: "gauge", unit: "By", help: "All memory obtained from the operating system." });

/** Live series of a metric. */
export const seriesActive: Row<"metric.name", "gauge"> = defineMetric({ ...self, name: "svc.series.active", kind: "gauge", unit: "{series}", attributes: ["metric.name"], help: "Live series of one metric." });
/** The limit per metric. */
export const seriesLimit: Row<never, "gauge"> = defineMetric({ ...self, name: "svc.series.limit", kind: "gauge", unit: "{series}", help: "Configured per-metric series cap." });
/** Whether a metric is at its limit. */
export const seriesOverflowing: Row<"metric.name", "gauge"> = defineMetric({ ...self, name: "svc.series.overflowing", kind: "gauge", unit: "1", attributes: ["metric.name"], help: "1 when a metric is at its cap, otherwise 0." });
/** Points delivered. */
export const exportDatapoints: Row<never, "counter"> = defineMetric({ ...self, name: "svc.export.datapoints", kind: "counter", unit: "{datapoint}", help: "Metric points delivered by the push exporter." });
/** Records delivered. */
export const exportLogRecords: Row<never, "counter"> = defineMetric({ ...self, name: "svc.export.log_records", kind: "counter", unit: "{record}", help: "Log records delivered by the log exporter." });
/** Spans delivered. */
export const exportSpans: Row<never, "counter"> = defineMetric({ ...self, name: "svc.export.spans", kind: "counter", unit: "{span}", help: "Spans delivered by the trace exporter." });
/** Items that left and did not arrive: in requests that failed, or refused out of requests that succeeded. */
export const exportLost: Row<"signal" | "reason", "counter"> = defineMetric({ ...self, name: "svc.export.lost", kind: "counter", unit: "1", attributes: ["signal", "reason"], help: "Items in export requests that failed (failed) or were refused by the receiver (rejected)." });
/** Failed requests by class. */
export const exportFailures: Row<"error.type" | "signal", "counter"> = defineMetric({ ...self, name: "svc.export.failures", kind: "counter", unit: "1", attributes: ["error.type", "signal"], help: "Telemetry export errors by error class and signal." });
/** Items that never left. */
export const processorDropped: Row<"signal" | "reason", "counter"> = defineMetric({ ...self, name: "svc.processor.dropped", kind: "counter", unit: "1", attributes: ["signal", "reason"], help: "Items that never left, because a queue was full or the telemetry thread ended." });
/** The log queue's bound. */
export const processorCapacity: Row<"signal", "gauge"> = defineMetric({ ...self, name: "svc.processor.queue.capacity", kind: "gauge", unit: "1", attributes: ["signal"], help: "Maximum size of a queue of items waiting for export." });
/** The log queue's length. */
export const processorSize: Row<"signal", "gauge"> = defineMetric({ ...self, name: "svc.processor.queue.size", kind: "gauge", unit: "1", attributes: ["signal"], help: "Items waiting for export." });

/** All rows of this file. */
export const houseMetrics: readonly AnyRow[] = catalogue(
  [gatewayRequests, gatewayDuration, gatewayInFlight, gatewayConnections, gatewayRefused],
  [stateCommits, stateCommitDuration, stateQueue, stateSize, stateLimit, stateRows],
  [poolThreads, poolRunning, poolQueued, poolLimit, poolCrashes],
  [jobsTotal, jobsRunning, jobsDuration],
  [processCpuTime, processUptime, up, buildInfo, gcCount, gcPauseTime, maxProcs, heapAlloc, heapSys, memorySys],
  [seriesActive, seriesLimit, seriesOverflowing, exportDatapoints, exportLogRecords, exportSpans, exportLost, exportFailures, processorDropped, processorCapacity, processorSize],
);
