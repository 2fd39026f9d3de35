/**
 * Wraps the official exporters: records every request's result in the ledger, since a flush of the
 * SDK resolves even when nothing arrived, and retries gRPC requests when the status allows; the
 * HTTP exporter retries by itself.
 */
import { AggregationTemporality } from "@opentelemetry/sdk-metrics";
import type { PushMetricExporter, ResourceMetrics } from "@opentelemetry/sdk-metrics";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import type { Signal } from "../../status.ts";
import { classify, isOfContents, isRetryableAnswer, RETRYABLE_GRPC } from "./error-class.ts";
import type { HttpAnswer } from "./http-answers.ts";
import type { Ledger } from "../ledger.ts";
import type { WireTarget } from "../options.ts";
import type { BatchExporter } from "./owners.ts";
import type { EncodedLog } from "./otlp-logs.ts";
import { RETRY_GROWTH, type AttemptResult } from "./persistent.ts";
import { delay, systemClock } from "../../../base/clock.ts";

const MAX_TRIES = 20;

type Result = Parameters<Parameters<PushMetricExporter["export"]>[1]>[0];
/** The enumeration is in a package that only the SDK depends on. */
const SUCCESS: Result["code"] = 0;

/** `unsent`: the request could not be made, which another attempt repeats. */
type SendResult = Result & { readonly unsent?: boolean };
type Send = (done: (result: Result) => void) => void;

export interface WatchOptions {
  readonly signal: Signal;
  readonly target: WireTarget;
  readonly ledger: Ledger;
  /** The last HTTP response to this signal's requests. */
  readonly lastAnswer: () => HttpAnswer | undefined;
  /**
   * Fires when the process stops: failures from then on are not retried, or an unreachable receiver
   * would delay every stop.
   */
  readonly stopping: AbortSignal;
  /**
   * Whether items are kept for another attempt: failures that may pass have the result `again`, and
   * lose nothing.
   */
  readonly keeps?: boolean;
}

export function watchMetrics(inner: PushMetricExporter, options: WatchOptions): PushMetricExporter {
  const deliveries = new Deliveries(options);
  return {
    export: (metrics, done) =>
      void deliveries
        .start((finish) => inner.export(metrics, finish), pointCount(metrics))
        .then(done),
    forceFlush: () => deliveries.finish(inner),
    shutdown: () => inner.shutdown(),
    selectAggregationTemporality: () => AggregationTemporality.CUMULATIVE,
  };
}

/** Called with the number of records or spans that left the queue. */
export interface QueueExit {
  readonly done: (items: number) => void;
}

export function watchLogs(
  inner: BatchExporter<EncodedLog>,
  options: WatchOptions & QueueExit,
): BatchExporter<EncodedLog> {
  return watchItems(inner, options);
}

export function watchSpans(inner: SpanExporter, options: WatchOptions & QueueExit): SpanExporter {
  return watchItems<ReadableSpan>(inner, options);
}

function watchItems<T>(
  inner: BatchExporter<T>,
  options: WatchOptions & QueueExit,
): BatchExporter<T> & { forceFlush(): Promise<void> } {
  const deliveries = new Deliveries(options);
  return {
    export: (items, done) =>
      void deliveries
        .start((finish) => inner.export(items, finish), items.length)
        .then((result) => {
          if (result.again !== true) options.done(items.length);
          done(result);
        }),
    forceFlush: () => deliveries.finish(inner),
    shutdown: () => inner.shutdown(),
  };
}

/**
 * The requests under way, also those between two attempts: the inner exporter does not know of
 * them, and the SDK waits for none longer than its export timeout.
 */
class Deliveries {
  readonly #options: WatchOptions;
  readonly #underWay = new Set<Promise<AttemptResult>>();

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  async start(send: Send, items: number): Promise<AttemptResult> {
    const delivery = deliver(send, items, this.#options);
    this.#underWay.add(delivery);
    try {
      return await delivery;
    } finally {
      this.#underWay.delete(delivery);
    }
  }

  /** Resolves when those started before have ended; the ledger then has their results. */
  async finish(inner: { forceFlush?(): Promise<void> }): Promise<void> {
    await Promise.allSettled(this.#underWay);
    await inner.forceFlush?.();
  }
}

async function deliver(send: Send, items: number, options: WatchOptions): Promise<AttemptResult> {
  const began = performance.now();
  const result = await sendPatiently(send, options);
  const answer = isRetryableAnswer(result.error) ? options.lastAnswer() : undefined;
  const failure = succeeded(result)
    ? undefined
    : {
        errorClass: classify(result.error, answer?.status),
        message: result.error?.message ?? "no reason given",
      };
  const again =
    failure !== undefined &&
    options.keeps === true &&
    !options.stopping.aborted &&
    result.unsent !== true &&
    !isOfContents(result.error);
  options.ledger.enter(options.signal, {
    items: again ? 0 : items,
    seconds: (performance.now() - began) / 1000,
    failure,
  });
  return again ? { ...result, again, retryAfterMs: answer?.retryAfterMs } : result;
}

async function sendPatiently(
  send: Send,
  { target: { protocol, retry }, stopping }: WatchOptions,
): Promise<SendResult> {
  const untilMs = performance.now() + retry.elapsedMs;
  let waitMs = retry.initialMs;
  for (let tries = 1; ; tries += 1) {
    const result = await sendOnce(send);
    const status = (result.error as { readonly code?: unknown } | undefined)?.code;
    const again = protocol === "grpc" && typeof status === "number" && RETRYABLE_GRPC.has(status);
    if (succeeded(result) || !again || tries === MAX_TRIES || performance.now() + waitMs > untilMs)
      return result;
    // A stop ends the delay and leaves one more attempt.
    if (stopping.aborted) return result;
    await delay(systemClock, waitMs, stopping).catch(() => undefined);
    waitMs = Math.min(retry.maxMs, waitMs * RETRY_GROWTH);
  }
}

function succeeded(result: Result): boolean {
  return result.code === SUCCESS;
}

function sendOnce(send: Send): Promise<SendResult> {
  return new Promise((resolve) => {
    try {
      send(resolve);
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      resolve({ code: 1, error: failure, unsent: true });
    }
  });
}

function pointCount(metrics: ResourceMetrics): number {
  return metrics.scopeMetrics.reduce(
    (sum, scope) =>
      sum + scope.metrics.reduce((points, metric) => points + metric.dataPoints.length, 0),
    0,
  );
}
