/**
 * The exporting half of the telemetry thread: exporters, queues and the SDK's providers. A thread
 * that is only scraped does not load it.
 */
import { systemClock } from "../../../base/clock.ts";
import type { Concealment } from "../../../base/log/concealment.ts";
import type { Log } from "../../../base/log.ts";
import type { Signal } from "../../status.ts";
import type { Ledger } from "../ledger.ts";
import type { ThreadOptions, WireTarget } from "../options.ts";
import {
  createLogExporter,
  createMetricExporter,
  createTraceExporter,
  type ExporterDeps,
} from "./exporter-factory.ts";
import { signalUrl } from "./exporters.ts";
import { watchHttpAnswers } from "./http-answers.ts";
import { LogSink } from "./log-sink.ts";
import { Output } from "./output.ts";
import { watchPartialSuccess } from "./partial-success.ts";
import { Providers } from "./providers.ts";
import { SpanSink } from "./span-sink.ts";
import { watchLogs, watchMetrics, watchSpans, type WatchOptions } from "./watched-export.ts";

export interface ExportPipeline {
  readonly logs: LogSink | undefined;
  readonly traces: SpanSink | undefined;
  readonly output: Output;
  readonly providers: Providers;
}

export interface ExportPipelineDeps {
  readonly ledger: Ledger;
  readonly log: Log;
  readonly concealment: Concealment;
  /** Fires when the process stops. */
  readonly stopping: AbortSignal;
  /** Called when a record or span was dropped because its queue is full. */
  readonly dropped: () => void;
  /** Sends an exporter's text to the main thread, which writes it. */
  readonly write: (id: number, text: string) => void;
}

export function createExportPipeline(
  options: ThreadOptions,
  { ledger, log, concealment, stopping, dropped, write }: ExportPipelineDeps,
): ExportPipeline {
  const output = new Output(write);
  const deps: ExporterDeps = { clock: systemClock, output, concealment, log };
  const lastAnswerOf = watchHttpAnswers(systemClock);
  const watched = (signal: Signal, target: WireTarget): WatchOptions => {
    const url = target.protocol === "http" ? signalUrl(target.endpoint, signal) : undefined;
    return {
      signal,
      target,
      ledger,
      stopping,
      lastAnswer: () => (url === undefined ? undefined : lastAnswerOf(url)),
    };
  };
  const { metrics } = options;
  const logs =
    options.logs &&
    createLogSink(options.logs, { deps, dropped, watch: watched("logs", options.logs) });
  const traces =
    options.traces &&
    createSpanSink(options.traces, { deps, dropped, watch: watched("traces", options.traces) });
  const providers = new Providers({
    metrics: metrics && {
      exporter: watchMetrics(createMetricExporter(metrics, deps), watched("metrics", metrics)),
      options: metrics,
    },
    logs,
    traces,
    snapshotTimeoutMs: options.snapshotTimeoutMs,
    snapshotSkipped: () => ledger.count("snapshotsSkipped"),
  });
  watchPartialSuccess((signal, items) => ledger.enterRejected(signal, items));
  return { logs, traces, output, providers };
}

interface SinkDeps {
  readonly deps: ExporterDeps;
  readonly dropped: () => void;
  readonly watch: WatchOptions;
}

function createLogSink(
  target: NonNullable<ThreadOptions["logs"]>,
  { deps, dropped, watch }: SinkDeps,
): LogSink {
  return new LogSink({
    exporter: (done) =>
      watchLogs(createLogExporter(target, deps), { ...watch, keeps: target.keeps, done }),
    batch: target,
    exportTimeoutMs: target.exportTimeoutMs,
    persistent: target.keeps
      ? {
          ...target.retry,
          stopping: watch.stopping,
          lost: (records) => watch.ledger.enterLost("logs", records),
        }
      : undefined,
    dropped,
  });
}

function createSpanSink(
  target: NonNullable<ThreadOptions["traces"]>,
  { deps, dropped, watch }: SinkDeps,
): SpanSink {
  return new SpanSink({
    exporter: (done) => watchSpans(createTraceExporter(target, deps), { ...watch, done }),
    batch: target,
    exportTimeoutMs: target.exportTimeoutMs,
    dropped,
  });
}
