/** What telemetry can be told, and the defaults that fill it up. */
import { Secret } from "../base/secret.ts";
import { defaultLogLimits } from "./log-record.ts";
import type { LogLimits } from "./log-record.ts";
import { LOGS_PER_MESSAGE, QUEUE_CAPACITY, SPANS_PER_MESSAGE } from "./messages.ts";
import type { BatchOptions, ThreadOptions, WireTarget } from "./thread/options.ts";

/** Where a signal goes. */
export interface OtlpTarget {
  readonly protocol: "grpc" | "http";
  /**
   * http: a base URL, to which `/v1/metrics` and so on is appended unless it ends so. grpc: `host:port`, or a URL whose
   * scheme then decides over TLS.
   */
  readonly endpoint: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string | Secret>>;
  /** Default none. */
  readonly compression?: "gzip" | "none";
  /** Time for one request; absent or 0 is 10,000. */
  readonly timeoutMs?: number;
  /** When a failed gRPC request is sent again. The HTTP exporter has a rule of its own: five times within the timeout. */
  readonly retry?: RetryOptions;
  readonly tls?: TlsOptions;
}

/** Waits between tries grow by half; 0 or absent is the default. */
export interface RetryOptions {
  readonly enabled: boolean;
  /** Default 1,000. */
  readonly initialMs?: number;
  /** Default 30,000. */
  readonly maxMs?: number;
  /** No try begins later than this after the first. Default: the timeout of one request. */
  readonly elapsedMs?: number;
}

/** TLS towards a receiver: PEM texts. */
export interface TlsOptions {
  /** No TLS for a gRPC endpoint without a scheme. */
  readonly insecure?: boolean;
  readonly insecureSkipVerify?: boolean;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string | Secret;
}

/** The queue before an exporter of logs or spans. Absent or 0 is the default. */
export interface QueueOptions {
  /** Default 2,048. */
  readonly capacity?: number;
  /** Default 512, or the capacity when that is less. */
  readonly batchSize?: number;
  /** Milliseconds between requests; default 1,000 for logs and 5,000 for spans. */
  readonly batchDelayMs?: number;
}

/** What runs. With none of the four there is no thread. */
export interface TelemetryOptions {
  /** `intervalMs` 60,000 and `batchSize` 5,000 points a request unless given. */
  readonly metrics?: OtlpTarget & { readonly intervalMs?: number; readonly batchSize?: number };
  readonly logs?: OtlpTarget & QueueOptions & { readonly limits?: Partial<LogLimits> };
  readonly traces?: OtlpTarget & QueueOptions;
  /** Whether metrics can be pulled. */
  readonly pull: boolean;
}

const TIMEOUT_MS = 10_000;
const RETRY_INITIAL_MS = 1_000;
const RETRY_MAX_MS = 30_000;
const INTERVAL_MS = 60_000;
const BATCH_POINTS = 5_000;
const LOG_DELAY_MS = 1_000;
const SPAN_DELAY_MS = 5_000;
const SNAPSHOT_TIMEOUT_MS = 8_000;

/** The options as the thread takes them, secrets opened for it. */
export function compileOptions(options: TelemetryOptions): ThreadOptions {
  const { metrics, logs, traces } = options;
  return {
    metrics: metrics && compileMetrics(metrics),
    logs: logs && { ...compileTarget(logs), ...compileQueue(logs, { batchSize: LOGS_PER_MESSAGE, delayMs: LOG_DELAY_MS }) },
    traces: traces && { ...compileTarget(traces), ...compileQueue(traces, { batchSize: SPANS_PER_MESSAGE, delayMs: SPAN_DELAY_MS }) },
    snapshotTimeoutMs: SNAPSHOT_TIMEOUT_MS,
  };
}

/** How log records are cut. */
export function compileLimits(limits: Partial<LogLimits> = {}): LogLimits {
  return { ...defaultLogLimits, ...limits };
}

/** A batch cannot be larger than the queue it comes from. */
function compileQueue(queue: QueueOptions, otherwise: Omit<BatchOptions, "capacity">): BatchOptions {
  const capacity = queue.capacity || QUEUE_CAPACITY;
  return { capacity, batchSize: Math.min(queue.batchSize || otherwise.batchSize, capacity), delayMs: queue.batchDelayMs || otherwise.delayMs };
}

/** A request must be over before the next interval, or every other export would be left out. */
function compileMetrics(metrics: NonNullable<TelemetryOptions["metrics"]>): ThreadOptions["metrics"] {
  const target = compileTarget(metrics);
  const intervalMs = metrics.intervalMs ?? INTERVAL_MS;
  return { ...target, timeoutMs: Math.min(target.timeoutMs, intervalMs), intervalMs, batchSize: metrics.batchSize ?? BATCH_POINTS };
}

function compileTarget({ protocol, endpoint, headers = {}, compression = "none", timeoutMs: timeout, retry = { enabled: true }, tls = {} }: OtlpTarget): WireTarget {
  const timeoutMs = timeout || TIMEOUT_MS;
  const { insecure = false, insecureSkipVerify = false, ca, cert, key } = tls;
  const scheme = insecure ? "http" : "https";
  return {
    protocol, compression, timeoutMs,
    retry: { initialMs: retry.initialMs || RETRY_INITIAL_MS, maxMs: retry.maxMs || RETRY_MAX_MS, elapsedMs: retry.enabled ? retry.elapsedMs || timeoutMs : 0 },
    endpoint: /^[a-z]+:\/\//i.test(endpoint) ? endpoint : `${scheme}://${endpoint}`,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, open(value)])),
    tls: { insecureSkipVerify, ...(ca === undefined ? {} : { ca }), ...(cert === undefined ? {} : { cert }), ...(key === undefined ? {} : { key: open(key) }) },
  };
}

function open(value: string | Secret): string {
  return value instanceof Secret ? value.use((opened) => opened) : value;
}
