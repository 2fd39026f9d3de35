/**
 * Log export in the telemetry thread: a provider per resource, one bounded queue, the official
 * exporter.
 */
import { ROOT_CONTEXT, SeverityNumber, trace, TraceFlags } from "@opentelemetry/api";
import type { Logger } from "@opentelemetry/api";
import { BatchLogRecordProcessor, LoggerProvider } from "@opentelemetry/sdk-logs";
import type { LogRecordExporter, LogRecordProcessor } from "@opentelemetry/sdk-logs";
import type { WireLog } from "../../messages.ts";
import type { Attributes, AttributeValue, Severity } from "../../types.ts";
import type { BatchOptions } from "../options.ts";
import type { RemoteScope } from "../remote-scope.ts";
import { Owners } from "./owners.ts";
import { QueueCount } from "../../../async/queue-count.ts";

const SEVERITIES: Readonly<Record<Severity, SeverityNumber>> = {
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
};
export interface LogSinkOptions {
  /**
   * Creates the watched exporter; `left` is called with the number of records of every finished
   * request.
   */
  readonly exporter: (left: (records: number) => void) => LogRecordExporter;
  readonly batch: BatchOptions;
  /** For one batch with all its retries. */
  readonly exportTimeoutMs: number;
  /** Called when one was dropped because the queue is full. */
  readonly dropped: () => void;
}

/** The bounded queue in front of the exporter; newer records are dropped and counted. */
export class LogSink {
  readonly queue: QueueCount;
  readonly processor: LogRecordProcessor;
  readonly #dropped: () => void;
  readonly #owners: Owners = new Owners();
  readonly #loggers = new WeakMap<RemoteScope, Logger>();

  constructor(options: LogSinkOptions) {
    this.#dropped = options.dropped;
    const { capacity, batchSize, delayMs } = options.batch;
    this.queue = new QueueCount(capacity);
    const exporter = this.#owners.fence(
      options.exporter((records) => this.queue.leave(records)),
      (records) => this.queue.drop(records),
    );
    // The processor's own bound is never reached: ours, which counts, is lower.
    this.processor = new BatchLogRecordProcessor({
      exporter,
      maxQueueSize: 2 * capacity,
      maxExportBatchSize: batchSize,
      scheduledDelayMillis: delayMs,
      exportTimeoutMillis: options.exportTimeoutMs,
    });
  }

  emit(scope: RemoteScope, record: WireLog): void {
    if (!this.queue.enter()) return this.#dropped();
    this.#logger(scope).emit({
      ...(record.name === "" ? {} : { eventName: record.name }),
      ...(record.trace === undefined
        ? {}
        : {
            context: trace.setSpanContext(ROOT_CONTEXT, {
              ...record.trace,
              traceFlags: TraceFlags.SAMPLED,
            }),
          }),
      severityNumber: SEVERITIES[record.severity],
      severityText: record.severity.toUpperCase(),
      body: record.body,
      timestamp: new Date(record.timeMs),
      ...(record.observedMs === undefined
        ? {}
        : { observedTimestamp: new Date(record.observedMs) }),
      attributes: attributesOf(record, scope.constants),
    });
  }

  #logger(scope: RemoteScope): Logger {
    const known = this.#loggers.get(scope);
    if (known) return known;
    const provider = new LoggerProvider({
      resource: this.#owners.resource(scope),
      processors: [this.processor],
    });
    const logger = provider.getLogger("steward");
    this.#loggers.set(scope, logger);
    return logger;
  }
}

function attributesOf({ names, values }: WireLog, constants: Attributes): Attributes {
  const attributes: Record<string, AttributeValue> = {};
  for (let at = 0; at < names.length; at += 1) {
    const [name, value] = [names[at], values[at]];
    if (name !== undefined && value !== undefined) attributes[name] = value;
  }
  return Object.assign(attributes, constants);
}
