/** Options of telemetry and their defaults. */
import { Secret } from "../base/secret.ts";
import type { Address } from "../config/values/address.ts";
import type { ClientAuth } from "../listen/tls/client-certificates.ts";
import { defaultLogLimits } from "./writer/log-record.ts";
import type { LogLimits } from "./writer/log-record.ts";
import { LOGS_PER_MESSAGE, QUEUE_CAPACITY, SPANS_PER_MESSAGE } from "./messages.ts";
import type {
  BatchOptions,
  ThreadOptions,
  WirePull,
  WireReload,
  WireTarget,
} from "./thread/options.ts";

/** Where a signal is sent. */
export interface OtlpTarget {
  readonly protocol: "grpc" | "http" | "stdout";
  /**
   * stdout: ignored. http: a base URL, to which `/v1/metrics` etc. is appended unless present.
   * grpc: `host:port`, or a URL whose scheme selects TLS.
   */
  readonly endpoint: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string | Secret>>;
  /** Default none. */
  readonly compression?: "gzip" | "none";
  /** Time for one request; default (absent or 0) 10,000. */
  readonly timeoutMs?: number;
  /**
   * When a failed gRPC request is retried. The HTTP exporter has its own rule: five times within
   * the timeout.
   */
  readonly retry?: RetryOptions;
  readonly tls?: TlsOptions;
  /**
   * Bytes before compression; a larger request is not sent but counted as `invalid`. Absent or 0:
   * unlimited.
   */
  readonly maxRequestBytes?: number;
  /**
   * gRPC: reconnects after this time, e.g. to find a load balancer's new backends. Absent or 0:
   * never.
   */
  readonly reconnectMs?: number;
  /** Reloads credentials while the thread runs. */
  readonly reload?: ReloadOptions;
  /** stdout: indented JSON. */
  readonly pretty?: boolean;
}

/** Files of credentials. A file that cannot be used keeps the last good ones in use. */
export interface ReloadOptions {
  readonly everyMs: number;
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  /** Header name to the file of its value; surrounding white space is trimmed. */
  readonly headerFiles?: Readonly<Record<string, string>>;
  /** HTTP Basic with a password file. */
  readonly basic?: { readonly user: string; readonly passwordFile: string };
}

/** The pull endpoint: `GET /metrics` on its own port, served by the telemetry thread. */
export interface PullOptions {
  /** Port 0 lets the system choose; the log line `listening` shows it. */
  readonly listen: Address;
  /** Without a token only loopback addresses are served, unless `allowUnauthenticated`. */
  readonly token?: Secret | undefined;
  readonly allowUnauthenticated?: boolean;
  /** Concurrent scrapes; further ones get 503. Default 4. */
  readonly maxInFlight?: number;
  /** Per response; default 8,000; 0 is unlimited. */
  readonly timeoutMs?: number;
  /** Whether scrapes within 250 ms share one gathering; default true. */
  readonly coalesce?: boolean;
  readonly tls?: PullTls | undefined;
}

/** TLS of the pull endpoint: PEM files, reloaded while it runs. */
export interface PullTls {
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCaFile?: string | undefined;
  /** Default `require_and_verify` with a `clientCaFile`, else `none`. */
  readonly clientAuth?: ClientAuth | undefined;
  /** Default 5,000. */
  readonly reloadMs?: number;
}

/** Delays between retries grow by half; 0 or absent is the default. */
interface RetryOptions {
  readonly enabled: boolean;
  /** Default 1,000. */
  readonly initialMs?: number;
  /** Default 30,000. */
  readonly maxMs?: number;
  /**
   * No retry starts later than this after the first attempt. Default: the timeout of one request.
   */
  readonly elapsedMs?: number;
}

/** TLS to a receiver: PEM texts. */
export interface TlsOptions {
  /** No TLS for a gRPC endpoint without a scheme. */
  readonly insecure?: boolean;
  readonly insecureSkipVerify?: boolean;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string | Secret;
}

/** The queue in front of an exporter of logs or spans. Absent or 0 is the default. */
interface QueueOptions {
  /** Default 2,048. */
  readonly capacity?: number;
  /** Default 512, or the capacity if less. */
  readonly batchSize?: number;
  /** Milliseconds between requests; default 1,000 for logs and 5,000 for spans. */
  readonly batchDelayMs?: number;
  /** For one batch with all its retries; default: as long as those may take. */
  readonly exportTimeoutMs?: number;
}

interface LogKeeping {
  /**
   * Sends a batch that failed again until it arrives, is rejected, or the process stops; the queue
   * then drops newer records. `exportTimeoutMs` is not used. Default false; standard output never
   * does.
   */
  readonly keeps?: boolean;
}

/** What is enabled. With none of the five there is no thread. */
export interface TelemetryOptions {
  /** `intervalMs` 60,000 and `batchSize` 5,000 points a request unless given. */
  readonly metrics?: OtlpTarget & { readonly intervalMs?: number; readonly batchSize?: number };
  readonly logs?: OtlpTarget & QueueOptions & LogKeeping & { readonly limits?: Partial<LogLimits> };
  readonly traces?: OtlpTarget & QueueOptions;
  /** Whether metrics can be pulled through `expose`. */
  readonly pull: boolean;
  readonly scrape?: PullOptions;
}

const TIMEOUT_MS = 10_000;
const RETRY_INITIAL_MS = 1_000;
const RETRY_MAX_MS = 30_000;
const INTERVAL_MS = 60_000;
const BATCH_POINTS = 5_000;
const LOG_DELAY_MS = 1_000;
const SPAN_DELAY_MS = 5_000;
const SNAPSHOT_TIMEOUT_MS = 8_000;
/** Standard output is written almost at once: batching would gain nothing. */
const OUTPUT_DELAY_MS = 10;
const SCRAPES_IN_FLIGHT = 4;
const SCRAPE_TIMEOUT_MS = 8_000;

/** Compiles the options for the thread; secrets become plain text. */
export function compileOptions(options: TelemetryOptions): ThreadOptions {
  const { metrics, logs, traces, scrape } = options;
  return {
    metrics: metrics && compileMetrics(metrics),
    logs: logs && {
      ...compileItems(logs, { batchSize: LOGS_PER_MESSAGE, delayMs: LOG_DELAY_MS }),
      keeps: (logs.keeps ?? false) && logs.protocol !== "stdout",
    },
    traces:
      traces && compileItems(traces, { batchSize: SPANS_PER_MESSAGE, delayMs: SPAN_DELAY_MS }),
    pull: scrape && compilePull(scrape),
    snapshotTimeoutMs: SNAPSHOT_TIMEOUT_MS,
  };
}

/** Limits on log records. */
export function compileLimits(limits: Partial<LogLimits> = {}): LogLimits {
  return { ...defaultLogLimits, ...limits };
}

/** A batch cannot be larger than its queue. Standard output is written almost at once. */
function compileItems(
  options: OtlpTarget & QueueOptions,
  otherwise: { readonly batchSize: number; readonly delayMs: number },
): WireTarget & BatchOptions {
  const target = compileTarget(options);
  const capacity = options.capacity || QUEUE_CAPACITY;
  return {
    ...target,
    capacity,
    batchSize: Math.min(options.batchSize || otherwise.batchSize, capacity),
    delayMs:
      target.protocol === "stdout" ? OUTPUT_DELAY_MS : options.batchDelayMs || otherwise.delayMs,
    exportTimeoutMs: options.exportTimeoutMs || target.timeoutMs + target.retry.elapsedMs,
  };
}

function compilePull({
  listen,
  token,
  allowUnauthenticated = false,
  maxInFlight = SCRAPES_IN_FLIGHT,
  timeoutMs = SCRAPE_TIMEOUT_MS,
  coalesce = true,
  tls,
}: PullOptions): WirePull {
  return {
    listen,
    token: token === undefined ? undefined : open(token),
    allowUnauthenticated,
    maxInFlight,
    timeoutMs,
    coalesce,
    tls: tls && {
      certFile: tls.certFile,
      keyFile: tls.keyFile,
      clientCaFile: tls.clientCaFile,
      clientAuth:
        tls.clientAuth ?? (tls.clientCaFile === undefined ? "none" : "require_and_verify"),
      reloadMs: tls.reloadMs,
    },
  };
}

function compileReload(reload: ReloadOptions): WireReload {
  const { everyMs, caFile, certFile, keyFile, headerFiles = {}, basic } = reload;
  return { everyMs, caFile, certFile, keyFile, headerFiles: { ...headerFiles }, basic };
}

/** A request must end before the next interval, or every other export would be skipped. */
function compileMetrics(
  metrics: NonNullable<TelemetryOptions["metrics"]>,
): ThreadOptions["metrics"] {
  const target = compileTarget(metrics);
  const intervalMs = metrics.intervalMs ?? INTERVAL_MS;
  return {
    ...target,
    timeoutMs: Math.min(target.timeoutMs, intervalMs),
    intervalMs,
    batchSize: metrics.batchSize ?? BATCH_POINTS,
  };
}

function compileTarget({
  protocol,
  endpoint,
  headers = {},
  compression = "none",
  timeoutMs: timeout,
  retry = { enabled: true },
  tls = {},
  maxRequestBytes = 0,
  reconnectMs = 0,
  reload,
  pretty = false,
}: OtlpTarget): WireTarget {
  const timeoutMs = timeout || TIMEOUT_MS;
  const { insecure = false, insecureSkipVerify = false, ca, cert, key } = tls;
  const scheme = insecure ? "http" : "https";
  return {
    protocol,
    compression,
    timeoutMs,
    maxRequestBytes,
    pretty,
    reconnectMs: protocol === "grpc" ? reconnectMs : 0,
    reload: reload && compileReload(reload),
    retry: {
      initialMs: retry.initialMs || RETRY_INITIAL_MS,
      maxMs: retry.maxMs || RETRY_MAX_MS,
      elapsedMs: retry.enabled ? retry.elapsedMs || timeoutMs : 0,
    },
    endpoint: /^[a-z]+:\/\//i.test(endpoint) ? endpoint : `${scheme}://${endpoint}`,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, open(value)]),
    ),
    tls: {
      insecureSkipVerify,
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key: open(key) }),
    },
  };
}

function open(value: string | Secret): string {
  return value instanceof Secret ? value.use((opened) => opened) : value;
}
