/** Metrics of the process and its runtime, of the series it holds and of their export. */
import { catalogue, defineMetric } from "../catalogue.ts";
import type { AnyRow } from "../types.ts";

const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
/** Kept in the catalogue without an invented value. */
const NO_VALUE = "the runtime knows the value; Node does not";
const PULLED = "scrape.enabled";
const LINUX = "on Linux";

const self = { group: "Self-observability" } as const;

export const processCpuTime = defineMetric({
  ...self,
  name: "process.cpu.time",
  kind: "counter",
  unit: "s",
  attributes: ["cpu.mode"],
  help: "CPU seconds by mode (user, system).",
});
export const processUptime = defineMetric({
  ...self,
  name: "process.uptime",
  kind: "gauge",
  unit: "s",
  help: "Seconds since process start.",
});
export const processResidentMemory = defineMetric({
  ...self,
  name: "process.resident_memory",
  kind: "gauge",
  unit: "By",
  help: "Resident memory of the process.",
});
export const processOpenFds = defineMetric({
  ...self,
  name: "process.open_fds",
  kind: "gauge",
  unit: "{file_descriptor}",
  help: "Open file descriptors, sockets among them.",
  when: LINUX,
});
export const processMaxFds = defineMetric({
  ...self,
  name: "process.max_fds",
  kind: "gauge",
  unit: "{file_descriptor}",
  help: "Most file descriptors that may be open (soft limit).",
  when: "on Linux, unless unlimited",
});
export const processStartTime = defineMetric({
  ...self,
  name: "process.start_time",
  kind: "gauge",
  unit: "s",
  help: "Start of the process, in seconds since 1970.",
});
export const up = defineMetric({
  ...self,
  name: "svc.up",
  kind: "gauge",
  unit: "1",
  help: "Always 1.",
});
export const buildInfo = defineMetric({
  ...self,
  name: "svc.build_info",
  kind: "gauge",
  unit: "1",
  attributes: ["version", "runtime.version"],
  help: "Constant 1; labels hold the build version and the language runtime version.",
});
export const gcCount = defineMetric({
  ...self,
  name: "svc.runtime.gc.count",
  kind: "counter",
  unit: "1",
  help: "Completed garbage collections.",
});
export const gcPauseTime = defineMetric({
  ...self,
  name: "svc.runtime.gc.pause_time",
  kind: "counter",
  unit: "s",
  help: "Accumulated stop-the-world pause.",
});
export const maxProcs = defineMetric({
  ...self,
  name: "svc.runtime.max_procs",
  kind: "gauge",
  unit: "1",
  help: "Parallelism limit of the runtime.",
});
export const heapAlloc = defineMetric({
  ...self,
  name: "svc.runtime.memory.heap_alloc",
  kind: "gauge",
  unit: "By",
  help: "Heap bytes held by live objects.",
});
export const heapSys = defineMetric({
  ...self,
  name: "svc.runtime.memory.heap_sys",
  kind: "gauge",
  unit: "By",
  help: "Heap bytes reserved from the operating system.",
});
export const memorySys = defineMetric({
  ...self,
  name: "svc.runtime.memory.sys",
  kind: "gauge",
  unit: "By",
  help: "All memory obtained from the operating system.",
});
export const workers = defineMetric({
  ...self,
  name: "svc.runtime.workers",
  kind: "gauge",
  unit: "1",
  help: "Threads of the process that run JavaScript: the main one and its workers.",
});
export const memoryAlloc = defineMetric({
  ...self,
  name: "svc.runtime.memory.alloc",
  kind: "counter",
  unit: "By",
  help: "Accumulated bytes allocated, including freed memory.",
});
export const heapInuse = defineMetric({
  ...self,
  name: "svc.runtime.memory.heap_inuse",
  kind: "gauge",
  unit: "By",
  help: "Heap bytes in pages being used.",
});
export const gcCpuFraction = defineMetric({
  ...self,
  name: "svc.runtime.gc.cpu_fraction",
  kind: "gauge",
  unit: "1",
  help: "Share of CPU spent in garbage collection since start, 0 to 1.",
});
export const heapObjects = defineMetric({
  ...self,
  name: "svc.runtime.memory.heap_objects",
  kind: "gauge",
  unit: "1",
  help: "Live heap object count.",
  when: NO_VALUE,
});
export const stackInuse = defineMetric({
  ...self,
  name: "svc.runtime.memory.stack_inuse",
  kind: "gauge",
  unit: "By",
  help: "Stack bytes in use.",
  when: NO_VALUE,
});
export const gcNextTarget = defineMetric({
  ...self,
  name: "svc.runtime.gc.next_target",
  kind: "gauge",
  unit: "By",
  help: "Heap size at which the next collection starts.",
  when: NO_VALUE,
});

export const seriesActive = defineMetric({
  ...self,
  name: "svc.series.active",
  kind: "gauge",
  unit: "{series}",
  attributes: ["metric.name"],
  help: "Live series of one metric.",
});
export const seriesLimit = defineMetric({
  ...self,
  name: "svc.series.limit",
  kind: "gauge",
  unit: "{series}",
  help: "Configured per-metric series cap.",
});
export const seriesOverflowing = defineMetric({
  ...self,
  name: "svc.series.overflowing",
  kind: "gauge",
  unit: "1",
  attributes: ["metric.name"],
  help: "1 when a metric is at its cap, otherwise 0.",
});
export const exportDatapoints = defineMetric({
  ...self,
  name: "svc.export.datapoints",
  kind: "counter",
  unit: "{datapoint}",
  help: "Metric points delivered by the push exporter.",
});
export const exportLogRecords = defineMetric({
  ...self,
  name: "svc.export.log_records",
  kind: "counter",
  unit: "{record}",
  help: "Log records delivered by the log exporter.",
});
export const exportSpans = defineMetric({
  ...self,
  name: "svc.export.spans",
  kind: "counter",
  unit: "{span}",
  help: "Spans delivered by the trace exporter.",
});
export const exportLost = defineMetric({
  ...self,
  name: "svc.export.lost",
  kind: "counter",
  unit: "1",
  attributes: ["signal", "reason"],
  help: "Items in export requests that failed (failed) or were refused by the receiver (rejected).",
});
export const exportFailures = defineMetric({
  ...self,
  name: "svc.export.failures",
  kind: "counter",
  unit: "1",
  attributes: ["error.type", "signal"],
  help: "Telemetry export errors by error class and signal.",
});
export const processorDropped = defineMetric({
  ...self,
  name: "svc.processor.dropped",
  kind: "counter",
  unit: "1",
  attributes: ["signal", "reason"],
  help: "Items that never left, because a queue was full or the telemetry thread ended.",
});
export const processorCapacity = defineMetric({
  ...self,
  name: "svc.processor.queue.capacity",
  kind: "gauge",
  unit: "1",
  attributes: ["signal"],
  help: "Maximum size of a queue of items waiting for export.",
});
export const processorSize = defineMetric({
  ...self,
  name: "svc.processor.queue.size",
  kind: "gauge",
  unit: "1",
  attributes: ["signal"],
  help: "Items waiting for export.",
});
export const seriesByGroup = defineMetric({
  ...self,
  name: "svc.series.by_group",
  kind: "gauge",
  unit: "{series}",
  attributes: ["metric.group"],
  help: "Active series summed per catalogue group.",
});
export const exportDuration = defineMetric({
  ...self,
  name: "svc.export.duration",
  kind: "histogram",
  unit: "s",
  attributes: ["signal", "outcome"],
  bounds: REQUEST_SECONDS,
  help: "Time taken by one export call by signal and outcome.",
});
export const exportSuppressed = defineMetric({
  ...self,
  name: "svc.export.diagnostics.suppressed",
  kind: "counter",
  unit: "1",
  attributes: ["signal", "error.type"],
  help: "Repeat export-failure log lines withheld while an outage of one signal and error class lasts.",
  when: "an export failed",
});
export const logTruncated = defineMetric({
  ...self,
  name: "svc.log.record.truncated",
  kind: "counter",
  unit: "1",
  attributes: ["field"],
  help: "Log records shortened before export; field is body or attribute.",
});
export const logTruncatedBytes = defineMetric({
  ...self,
  name: "svc.log.truncated.bytes",
  kind: "counter",
  unit: "By",
  attributes: ["field"],
  help: "Bytes cut from log bodies or attribute values; field is body or attribute.",
});
export const pullRejected = defineMetric({
  ...self,
  name: "svc.metrics.auth.rejected",
  kind: "counter",
  unit: "1",
  attributes: ["reason"],
  help: "Metrics-pull requests refused by authentication, by reason.",
  when: PULLED,
});
export const pullDuration = defineMetric({
  ...self,
  name: "svc.metrics.scrape.duration",
  kind: "histogram",
  unit: "s",
  attributes: ["outcome"],
  bounds: REQUEST_SECONDS,
  help: "Time to serve one metrics-pull request by outcome.",
  when: PULLED,
});
export const pullGatherErrors = defineMetric({
  ...self,
  name: "svc.metrics.scrape.gather_errors",
  kind: "counter",
  unit: "1",
  help: "Gather errors while serving a pull; affected series are left out and the reply stays 200.",
  when: PULLED,
});
export const pullInFlight = defineMetric({
  ...self,
  name: "svc.metrics.scrape.in_flight",
  kind: "updown",
  unit: "{request}",
  help: "Metrics-pull requests in progress.",
  when: PULLED,
});
export const pullRequests = defineMetric({
  ...self,
  name: "svc.metrics.scrape.requests",
  kind: "counter",
  unit: "{request}",
  attributes: ["outcome"],
  help: "Served metrics-pull requests by outcome: success (2xx), unavailable (503), error.",
  when: PULLED,
});

export const componentErrors = defineMetric({
  ...self,
  name: "svc.component.errors",
  kind: "counter",
  unit: "1",
  attributes: ["component"],
  help: "Failures of components, such as listeners and receivers.",
});
export const certNotBefore = defineMetric({
  ...self,
  name: "svc.tls.cert.not_before",
  kind: "gauge",
  unit: "s",
  attributes: ["component"],
  help: "Start of validity of the served certificate, per listener component.",
  when: "the listener speaks TLS",
});
export const certNotAfter = defineMetric({
  ...self,
  name: "svc.tls.cert.not_after",
  kind: "gauge",
  unit: "s",
  attributes: ["component"],
  help: "Expiry of the served certificate, per listener component.",
  when: "the listener speaks TLS",
});
export const certReloadLastSuccess = defineMetric({
  ...self,
  name: "svc.tls.cert.reload.last_success",
  kind: "gauge",
  unit: "s",
  attributes: ["component"],
  help: "Time of the last good certificate load, per listener component.",
  when: "the listener speaks TLS",
});
export const certReloadFailures = defineMetric({
  ...self,
  name: "svc.tls.cert.reload.failures",
  kind: "counter",
  unit: "1",
  attributes: ["component"],
  help: "Failed certificate reloads; the previous certificate stays in service.",
  when: "the listener speaks TLS",
});

export const runtimeMetrics: readonly AnyRow[] = catalogue([
  processCpuTime,
  processUptime,
  processResidentMemory,
  processOpenFds,
  processMaxFds,
  processStartTime,
  up,
  buildInfo,
  gcCount,
  gcPauseTime,
  maxProcs,
  heapAlloc,
  heapSys,
  memorySys,
  workers,
  memoryAlloc,
  heapInuse,
  gcCpuFraction,
  heapObjects,
  stackInuse,
  gcNextTarget,
]);

/** Telemetry itself, and the parts of the process. */
export const telemetryMetrics: readonly AnyRow[] = catalogue([
  seriesActive,
  seriesLimit,
  seriesOverflowing,
  exportDatapoints,
  exportLogRecords,
  exportSpans,
  exportLost,
  exportFailures,
  processorDropped,
  processorCapacity,
  processorSize,
  seriesByGroup,
  exportDuration,
  exportSuppressed,
  logTruncated,
  logTruncatedBytes,
  pullRejected,
  pullDuration,
  pullGatherErrors,
  pullInFlight,
  pullRequests,
  componentErrors,
  certNotBefore,
  certNotAfter,
  certReloadLastSuccess,
  certReloadFailures,
]);
