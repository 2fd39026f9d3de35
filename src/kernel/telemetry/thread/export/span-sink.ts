/** Span export in the telemetry thread: one bounded queue, the official processor and exporter. */
import { createTraceState } from "@opentelemetry/api";
import type { SpanContext } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import { BatchSpanProcessor } from "@opentelemetry/sdk-trace";
import type { ReadableSpan, SpanExporter, SpanProcessor } from "@opentelemetry/sdk-trace";
import type { WireSpan, WireSpanContext } from "../../types.ts";
import type { BatchOptions } from "../options.ts";
import type { RemoteScope } from "../remote-scope.ts";
import { Owners } from "./owners.ts";
import { QueueCount } from "../../../async/queue-count.ts";

export interface SpanSinkOptions {
  /**
   * Creates the watched exporter; `left` is called with the number of spans of every finished
   * request.
   */
  readonly exporter: (left: (spans: number) => void) => SpanExporter;
  readonly batch: BatchOptions;
  /** For one batch with all its retries. */
  readonly exportTimeoutMs: number;
  /** Called when one was dropped because the queue is full. */
  readonly dropped: () => void;
}

/** The bounded queue in front of the exporter; newer spans are dropped and counted. */
export class SpanSink {
  readonly queue: QueueCount;
  readonly processor: SpanProcessor;
  readonly #dropped: () => void;
  readonly #owners: Owners = new Owners();

  constructor(options: SpanSinkOptions) {
    const { capacity, batchSize, delayMs } = options.batch;
    this.queue = new QueueCount(capacity);
    this.#dropped = options.dropped;
    const exporter = this.#owners.fence(
      options.exporter((spans) => this.queue.leave(spans)),
      (spans) => this.queue.drop(spans),
    );
    // The processor's own bound is never reached: ours, which counts, is lower.
    this.processor = new BatchSpanProcessor({
      exporter,
      maxQueueSize: 2 * capacity,
      maxExportBatchSize: batchSize,
      scheduledDelayMillis: delayMs,
      exportTimeoutMillis: options.exportTimeoutMs,
    });
  }

  add(scope: RemoteScope, span: WireSpan): void {
    if (!this.queue.enter()) return this.#dropped();
    this.processor.onEnd(readable(span, this.#owners.resource(scope), scope));
  }
}

/** The span in the form of the SDK's processors and exporters. */
function readable(span: WireSpan, resource: Resource, scope: RemoteScope): ReadableSpan {
  const { name, kind, start, end, duration, status, attributes, links, parent, droppedAttributes } =
    span;
  const context = contextOf(span.context);
  return {
    name,
    kind,
    resource,
    duration,
    status: { ...status },
    spanContext: () => context,
    ...(parent === undefined ? {} : { parentSpanContext: contextOf(parent) }),
    startTime: start,
    endTime: end,
    attributes: { ...attributes, ...scope.constants },
    links: links.map((link) => ({ context: contextOf(link) })),
    events: [],
    ended: true,
    instrumentationScope: { name: span.tracer },
    droppedAttributesCount: droppedAttributes,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function contextOf({
  traceId,
  spanId,
  traceFlags,
  traceState,
  isRemote,
}: WireSpanContext): SpanContext {
  return {
    traceId,
    spanId,
    traceFlags,
    isRemote,
    ...(traceState === undefined ? {} : { traceState: createTraceState(traceState) }),
  };
}
