/** What telemetry can be told, and the defaults that fill it up. */
import { Secret } from "../base/secret.ts";
import type { ThreadOptions, WireTarget } from "./thread/options.ts";

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
  /** Time for one request, 10,000 unless given. */
  readonly timeoutMs?: number;
  readonly tls?: TlsOptions;
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

/** What runs. With none of the three there is no thread. */
export interface TelemetryOptions {
  /** `intervalMs` 60,000 and `batchSize` 5,000 points a request unless given. */
  readonly metrics?: OtlpTarget & { readonly intervalMs?: number; readonly batchSize?: number };
  /** `batchDelayMs` 1,000 unless given. */
  readonly logs?: OtlpTarget & { readonly batchDelayMs?: number };
  /** Whether metrics can be pulled. */
  readonly pull: boolean;
}

const TIMEOUT_MS = 10_000;
const INTERVAL_MS = 60_000;
const BATCH_POINTS = 5_000;
const LOG_DELAY_MS = 1_000;
const SNAPSHOT_TIMEOUT_MS = 8_000;

/** The options as the thread takes them, secrets opened for it. */
export function compileOptions(options: TelemetryOptions): ThreadOptions {
  const { metrics, logs } = options;
  return {
    metrics: metrics && compileMetrics(metrics),
    logs: logs && { ...compileTarget(logs), batchDelayMs: logs.batchDelayMs ?? LOG_DELAY_MS },
    snapshotTimeoutMs: SNAPSHOT_TIMEOUT_MS,
  };
}

/** A request must be over before the next interval, or every other export would be left out. */
function compileMetrics(metrics: NonNullable<TelemetryOptions["metrics"]>): ThreadOptions["metrics"] {
  const target = compileTarget(metrics);
  const intervalMs = metrics.intervalMs ?? INTERVAL_MS;
  return { ...target, timeoutMs: Math.min(target.timeoutMs, intervalMs), intervalMs, batchSize: metrics.batchSize ?? BATCH_POINTS };
}

function compileTarget({ protocol, endpoint, headers = {}, compression = "none", timeoutMs = TIMEOUT_MS, tls = {} }: OtlpTarget): WireTarget {
  const { insecure = false, insecureSkipVerify = false, ca, cert, key } = tls;
  const scheme = insecure ? "http" : "https";
  return {
    protocol, compression, timeoutMs,
    endpoint: /^[a-z]+:\/\//i.test(endpoint) ? endpoint : `${scheme}://${endpoint}`,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, open(value)])),
    tls: { insecureSkipVerify, ...(ca === undefined ? {} : { ca }), ...(cert === undefined ? {} : { cert }), ...(key === undefined ? {} : { key: open(key) }) },
  };
}

function open(value: string | Secret): string {
  return value instanceof Secret ? value.use((opened) => opened) : value;
}
