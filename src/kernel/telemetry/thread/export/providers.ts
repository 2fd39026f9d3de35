/**
 * The SDK's providers: `NodeSDK` for the process's scope, a separate MeterProvider for every other
 * one, because a reader uses its provider's resource. All share one exporter.
 */
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import type { PushMetricExporter } from "@opentelemetry/sdk-metrics";
import { NodeSDK } from "@opentelemetry/sdk-node";
import type { LogSink } from "./log-sink.ts";
import type { ThreadOptions } from "../options.ts";
import { seriesProducer } from "./producer.ts";
import type { RemoteScope } from "../remote-scope.ts";
import { sdkResource } from "../sdk-resource.ts";
import type { SpanSink } from "./span-sink.ts";

export interface ProviderDeps {
  readonly metrics:
    | {
        readonly exporter: PushMetricExporter;
        readonly options: NonNullable<ThreadOptions["metrics"]>;
      }
    | undefined;
  readonly logs: LogSink | undefined;
  readonly traces: SpanSink | undefined;
  readonly snapshotTimeoutMs: number;
  readonly snapshotSkipped: () => void;
}

export class Providers {
  readonly #deps: ProviderDeps;
  readonly #readers = new Map<RemoteScope, PeriodicExportingMetricReader>();
  readonly #shutdowns = new Map<RemoteScope, () => Promise<void>>();
  #sdk: NodeSDK | undefined;
  #flushing: Promise<void> = Promise.resolve();
  #nextFlush: Promise<void> | undefined;

  constructor(deps: ProviderDeps) {
    this.#deps = deps;
  }

  open(scope: RemoteScope): void {
    const reader = this.#reader(scope);
    const resource = sdkResource(scope.resource);
    if (this.#sdk === undefined) {
      this.#sdk = new NodeSDK({
        autoDetectResources: false,
        resource,
        metricReaders: reader ? [reader] : [],
        logRecordProcessors: this.#deps.logs ? [this.#deps.logs.processor] : [],
        spanProcessors: this.#deps.traces ? [this.#deps.traces.processor] : [],
        textMapPropagator: null,
      });
      this.#sdk.start();
    } else if (reader) {
      const provider = new MeterProvider({ resource, readers: [reader] });
      this.#shutdowns.set(scope, () => provider.shutdown());
    }
  }

  async close(scope: RemoteScope): Promise<void> {
    const shutdown = this.#shutdowns.get(scope);
    this.#shutdowns.delete(scope);
    this.#readers.delete(scope);
    await shutdown?.();
  }

  /**
   * Exports everything queued. Resolves on success or failure; the ledger has the result. Waits for
   * a flush that is running, since the SDK's second one does not; all that wait share the next.
   */
  flush(): Promise<void> {
    this.#nextFlush ??= this.#flushing.then(() => {
      this.#nextFlush = undefined;
      this.#flushing = this.#flushOnce();
      return this.#flushing;
    });
    return this.#nextFlush;
  }

  async #flushOnce(): Promise<void> {
    await Promise.allSettled([
      ...[...this.#readers.values()].map((reader) => reader.forceFlush()),
      this.#deps.logs?.processor.forceFlush(),
      this.#deps.traces?.processor.forceFlush(),
    ]);
  }

  /** Flushes a last time, then closes the connections. */
  async shutdown(): Promise<void> {
    await this.#flushing;
    await Promise.allSettled([
      ...[...this.#shutdowns.values()].map((shutdown) => shutdown()),
      this.#sdk?.shutdown(),
    ]);
    await this.#deps.metrics?.exporter.shutdown();
  }

  #reader(scope: RemoteScope): PeriodicExportingMetricReader | undefined {
    if (!this.#deps.metrics) return undefined;
    const { exporter, options } = this.#deps.metrics;
    // A reader shuts down its exporter, which the others still need.
    const shared: PushMetricExporter = { ...exporter, shutdown: () => exporter.forceFlush() };
    const reader = new PeriodicExportingMetricReader({
      exporter: shared,
      exportIntervalMillis: options.intervalMs,
      exportTimeoutMillis: Math.min(
        options.intervalMs,
        options.timeoutMs + options.retry.elapsedMs,
      ),
      maxExportBatchSize: options.batchSize,
      metricProducers: [
        seriesProducer(scope, {
          timeoutMs: this.#deps.snapshotTimeoutMs,
          skipped: this.#deps.snapshotSkipped,
        }),
      ],
    });
    this.#readers.set(scope, reader);
    return reader;
  }
}
