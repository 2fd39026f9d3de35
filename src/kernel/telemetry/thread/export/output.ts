/**
 * Telemetry on standard output: each export request as one line of OTLP JSON (OpenTelemetry's file
 * exporter format). The host writes it, after the process's own first line; a request succeeds when
 * it was written.
 */
import { JsonTraceSerializer } from "@opentelemetry/otlp-transformer";
import { AggregationTemporality } from "@opentelemetry/sdk-metrics";
import type { PushMetricExporter } from "@opentelemetry/sdk-metrics";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import { type EncodedLog, jsonLogsSerializer } from "./otlp-logs.ts";
import { jsonMetricsSerializer } from "./otlp-metrics.ts";
import type { Exporter } from "./exporters.ts";
import { systemClock } from "../../../base/clock.ts";

/** The enumerations are in a package that only the SDK depends on. */
const [SUCCESS, FAILED] = [0, 1];

/** Sends texts to the host and resolves when they were written. */
export class Output {
  readonly #post: (id: number, text: string) => void;
  readonly #waiting = new Map<number, () => void>();
  #next = 0;

  constructor(post: (id: number, text: string) => void) {
    this.#post = post;
  }

  /** Resolves when the text was written; rejects on timeout. */
  write(text: string, timeoutMs: number): Promise<void> {
    const id = this.#next;
    this.#next += 1;
    return new Promise((resolve, reject) => {
      const timer = systemClock.timer(systemClock.monotonic() + timeoutMs, () => {
        this.#waiting.delete(id);
        reject(
          new Error(`Request timed out: standard output did not accept it within ${timeoutMs} ms`),
        );
      });
      this.#waiting.set(id, () => {
        timer[Symbol.dispose]();
        this.#waiting.delete(id);
        resolve();
      });
      this.#post(id, text);
    });
  }

  written(id: number): void {
    this.#waiting.get(id)?.();
  }
}

export interface OutputOptions {
  readonly output: Output;
  readonly pretty: boolean;
  readonly timeoutMs: number;
}

/** Metrics as lines `{"resourceMetrics":…}`. */
export function metricOutput(options: OutputOptions): PushMetricExporter {
  return {
    export: (metrics, done) =>
      write(jsonMetricsSerializer.serializeRequest(metrics), options, done),
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
    selectAggregationTemporality: () => AggregationTemporality.CUMULATIVE,
  };
}

/** Log records as lines `{"resourceLogs":…}`. */
export function logOutput(options: OutputOptions): Exporter<EncodedLog[]> {
  return {
    export: (records, done) => write(jsonLogsSerializer.serializeRequest(records), options, done),
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  };
}

/** Spans as lines `{"resourceSpans":…}`. */
export function spanOutput(options: OutputOptions): SpanExporter {
  return {
    export: (spans, done) => write(JsonTraceSerializer.serializeRequest(spans), options, done),
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  };
}

type Done = Parameters<PushMetricExporter["export"]>[1];

function write(
  json: Uint8Array | undefined,
  { output, pretty, timeoutMs }: OutputOptions,
  done: Done,
): void {
  const text = Buffer.from(json ?? []).toString();
  const shown = pretty ? JSON.stringify(JSON.parse(text), undefined, 2) : text;
  output.write(`${shown}\n`, timeoutMs).then(
    () => done({ code: SUCCESS }),
    (error: unknown) =>
      done({ code: FAILED, error: error instanceof Error ? error : new Error(String(error)) }),
  );
}
