/**
 * Spans of requests, runs and calls: made by the official SDK in the thread that answers, handed on
 * when they have ended.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags } from "@opentelemetry/api";
import type { Attributes, Context, Span, SpanContext, Tracer } from "@opentelemetry/api";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { ReadableSpan, Sampler, SpanProcessor } from "@opentelemetry/sdk-trace";
import type { LogFields } from "../base/log.ts";
import type { WireSpan, WireSpanContext } from "./messages.ts";
import type { BegunRequest, EndedRequest } from "./requests.ts";
import { parseTraceparent } from "./traceparent.ts";
import type { AttributeValue } from "./types.ts";

/** Which requests are traced, in OpenTelemetry's words. */
export type SamplerName =
  | "always_on"
  | "always_off"
  | "traceidratio"
  | "parentbased_always_on"
  | "parentbased_traceidratio";

/** How spans are made. */
export interface TracingOptions {
  readonly sampler: SamplerName;
  /** Share of traces for the ratio samplers, 0 to 1. */
  readonly ratio: number;
  /** What a request's traceparent counts: the trace goes on, it is only linked to, or nothing. */
  readonly remoteParent: "trust" | "link" | "ignore";
}

/** The span of one request. */
export interface RequestSpan {
  /** `trace_id` and `span_id` for log lines; nothing for a request that is not sampled. */
  readonly fields: LogFields;
  /** Runs with the span as the one that log lines below belong to. */
  run<T>(serve: () => T): T;
  end(ended: EndedRequest): void;
}

/** A call of somebody else that is over. */
export interface EndedCall {
  readonly name: string;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  /** Milliseconds since 1970. */
  readonly beganMs: number;
  readonly endedMs: number;
  /** `error.type`; undefined when it went well. */
  readonly failed: string | undefined;
}

/** A piece of work that no request began. */
export interface Work<T> {
  readonly name: string;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  /** `error.type` of a result; undefined for a good one. */
  readonly failed: (result: T) => string | undefined;
}

/** Makes spans. */
export interface Tracing {
  begin(request: BegunRequest): RequestSpan;
  /** Runs with a trace of its own, to which log lines and calls below it belong. */
  work<T>(work: Work<T>, run: () => Promise<T>): Promise<T>;
  /** Makes the span of a call, below what runs. What `measure` measures has it as exemplar. */
  called(call: EndedCall, measure?: () => void): void;
  /**
   * The fields of the span that the running code belongs to, for `RootLog.relate`. Nothing once
   * that span has ended.
   */
  fields(): LogFields;
}

const TRACER = "steward";
const NOTHING: LogFields = {};
/** The span that the running code belongs to, whoever made it. */
const running = new AsyncLocalStorage<{ readonly span: Span; readonly fields: LogFields }>();
/** What a span may hold, so that none is larger than a message should be. */
const LIMITS = { attributeValueLengthLimit: 1_024, attributeCountLimit: 64, linkCountLimit: 8 };

/** Spans that go to `ship` when they have ended and are sampled. */
export function createTracing(
  options: TracingOptions,
  ship: (make: () => Omit<WireSpan, "scope">) => void,
): Tracing {
  const processor: SpanProcessor = {
    onStart: () => undefined,
    onEnd: (span) => void (isSampled(span) && ship(() => wireSpan(span))),
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  };
  const tracer = new TracerProvider({
    sampler: samplerOf(options),
    spanLimits: LIMITS,
    spanProcessors: [processor],
  }).getTracer(TRACER);
  return {
    begin(request) {
      const span = startSpan(tracer, request, options.remoteParent);
      const fields = fieldsOf(span);
      return {
        fields,
        run: (serve) => running.run({ span, fields }, serve),
        end: (ended) => endSpan(span, request, ended),
      };
    },
    async work(work, run) {
      const span = tracer.startSpan(
        work.name,
        { kind: SpanKind.INTERNAL, attributes: work.attributes },
        ROOT_CONTEXT,
      );
      let failed: string | undefined = "_OTHER";
      try {
        const result = await running.run({ span, fields: fieldsOf(span) }, run);
        failed = work.failed(result);
        return result;
      } finally {
        if (failed !== undefined) fail(span, failed);
        span.end();
      }
    },
    called({ name, attributes, beganMs, endedMs, failed }, measure) {
      const parent = running.getStore()?.span;
      const span = tracer.startSpan(
        name,
        { kind: SpanKind.CLIENT, attributes, startTime: beganMs },
        parent === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent),
      );
      if (failed !== undefined) fail(span, failed);
      if (measure !== undefined) running.run({ span, fields: fieldsOf(span) }, measure);
      span.end(endedMs);
    },
    fields: runningFields,
  };
}

/**
 * `trace_id` and `span_id` of the span that the running code belongs to. Nothing once that has
 * ended: what a request left behind, such as a job, goes on after it.
 */
export function runningFields(): LogFields {
  const store = running.getStore();
  return store?.span.isRecording() === true ? store.fields : NOTHING;
}

function fieldsOf(span: Span): LogFields {
  const { traceId, spanId } = span.spanContext();
  return span.isRecording() ? { trace_id: traceId, span_id: spanId } : NOTHING;
}

function fail(span: Span, errorType: string): void {
  span.setAttribute("error.type", errorType);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function isSampled(span: ReadableSpan): boolean {
  return (span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;
}

function startSpan(
  tracer: Tracer,
  request: BegunRequest,
  remoteParent: TracingOptions["remoteParent"],
): Span {
  const remote =
    remoteParent === "ignore"
      ? undefined
      : parseTraceparent(request.headers["traceparent"], request.headers["tracestate"]);
  const parent: Context =
    remote !== undefined && remoteParent === "trust"
      ? trace.setSpanContext(ROOT_CONTEXT, remote)
      : ROOT_CONTEXT;
  const links = remote !== undefined && remoteParent === "link" ? [{ context: remote }] : [];
  const { protocol, method, route } = request;
  const name = protocol === "rest" ? `${method} ${route}` : route.replace(/^\//, "");
  return tracer.startSpan(
    name,
    { kind: SpanKind.SERVER, attributes: attributesOf(request), links },
    parent,
  );
}

/**
 * By the semantic conventions; never the path asked for, which may name what only its reader should
 * know.
 */
function attributesOf({ protocol, method, route, requestId }: BegunRequest): Attributes {
  const own = { "steward.request_id": requestId, "steward.protocol": protocol };
  if (protocol === "rest") return { ...own, "http.request.method": method, "http.route": route };
  return {
    ...own,
    "rpc.system.name": protocol === "connect" ? "connectrpc" : "grpc",
    "rpc.method": route.replace(/^\//, ""),
  };
}

function endSpan(span: Span, { protocol }: BegunRequest, { code, failed }: EndedRequest): void {
  const status = Number(code);
  if (protocol === "rest" && Number.isInteger(status))
    span.setAttribute("http.response.status_code", status);
  else
    span.setAttribute(
      protocol === "rest" ? "error.type" : "rpc.response.status_code",
      protocol === "rest" ? code : code.toUpperCase(),
    );
  if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

function samplerOf({ sampler, ratio }: TracingOptions): Sampler {
  switch (sampler) {
    case "always_on":
      return new AlwaysOnSampler();
    case "always_off":
      return new AlwaysOffSampler();
    case "traceidratio":
      return new TraceIdRatioBasedSampler(ratio);
    case "parentbased_always_on":
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case "parentbased_traceidratio":
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}

function wireSpan(span: ReadableSpan): Omit<WireSpan, "scope"> {
  const {
    name,
    kind,
    startTime,
    endTime,
    duration,
    status,
    attributes,
    links,
    parentSpanContext,
    droppedAttributesCount,
  } = span;
  const { code, message } = status;
  return {
    tracer: TRACER,
    name,
    kind,
    start: startTime,
    end: endTime,
    duration,
    status: { code, ...(message === undefined ? {} : { message }) },
    context: wireContext(span.spanContext()),
    parent: parentSpanContext && wireContext(parentSpanContext),
    // Ours alone, all of them scalars.
    attributes: attributes as Record<string, AttributeValue>,
    links: links.map(({ context }) => wireContext(context)),
    droppedAttributes: droppedAttributesCount,
  };
}

function wireContext({
  traceId,
  spanId,
  traceFlags,
  traceState,
  isRemote,
}: SpanContext): WireSpanContext {
  return {
    traceId,
    spanId,
    traceFlags,
    traceState: traceState?.serialize(),
    isRemote: isRemote === true,
  };
}
