/**
 * Log export in the telemetry thread: one bounded queue of encoded records, the official processor
 * and exporter.
 */
import { BatchLogRecordProcessor } from "@opentelemetry/sdk-logs";
import type { LogRecordExporter, LogRecordProcessor } from "@opentelemetry/sdk-logs";
import type { BatchOptions } from "../options.ts";
import type { RemoteScope } from "../remote-scope.ts";
import { Owners, type BatchExporter } from "./owners.ts";
import type { EncodedLog } from "./otlp-logs.ts";
import { persistentExporter, type PersistentOptions } from "./persistent.ts";
import { QueueCount } from "../../../async/queue-count.ts";

type SdkRecord = Parameters<LogRecordProcessor["onEmit"]>[0];

export interface LogSinkOptions {
  /**
   * Creates the watched exporter; `left` is called with the number of records of every finished
   * request.
   */
  readonly exporter: (left: (records: number) => void) => BatchExporter<EncodedLog>;
  readonly batch: BatchOptions;
  /** For one batch with all its retries. */
  readonly exportTimeoutMs: number;
  /** How a batch that failed is sent again; undefined: it is lost. */
  readonly persistent: PersistentOptions | undefined;
  /** Called when one was dropped because the queue is full. */
  readonly dropped: () => void;
}

/** Longest delay of a timer: no limit. */
const NEVER_MS = 2 ** 31 - 1;

/** The bounded queue in front of the exporter; newer records are dropped and counted. */
export class LogSink {
  readonly queue: QueueCount;
  readonly processor: LogRecordProcessor;
  readonly #dropped: () => void;
  readonly #owners: Owners = new Owners();

  constructor(options: LogSinkOptions) {
    this.#dropped = options.dropped;
    const { capacity, batchSize, delayMs } = options.batch;
    this.queue = new QueueCount(capacity);
    const { persistent } = options;
    const fenced = this.#owners.fence(
      options.exporter((records) => this.queue.leave(records)),
      (records) => this.queue.drop(records),
    );
    const exporter =
      persistent === undefined
        ? fenced
        : persistentExporter(fenced, {
            ...persistent,
            lost: (records) => {
              this.queue.leave(records);
              persistent.lost(records);
            },
          });
    // The processor's own bound is never reached: ours, which counts, is lower.
    this.processor = new BatchLogRecordProcessor({
      // Of a record the processor reads the resource only.
      exporter: exporter as unknown as LogRecordExporter,
      maxQueueSize: 2 * capacity,
      maxExportBatchSize: batchSize,
      scheduledDelayMillis: delayMs,
      // At a timeout the processor would go on as if the batch had left.
      exportTimeoutMillis: persistent === undefined ? options.exportTimeoutMs : NEVER_MS,
    });
  }

  /** `bytes` is a LogRecord message. */
  emit(scope: RemoteScope, bytes: Uint8Array): void {
    if (!this.queue.enter()) return this.#dropped();
    const log: EncodedLog = { resource: this.#owners.resource(scope), bytes };
    this.processor.onEmit(log as unknown as SdkRecord);
  }
}
