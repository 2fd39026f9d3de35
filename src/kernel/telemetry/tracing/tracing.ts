/**
 * Spans of requests, runs and outgoing calls. The OpenTelemetry SDK creates them in the thread that
 * does the work; finished spans are passed to the telemetry writer.
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
import { toStewardError } from "../../base/errors.ts";
import type { LogFields } from "../../base/log.ts";
import type { WireSpan, WireSpanContext, AttributeValue } from "../types.ts";
import type { BegunRequest, EndedRequest } from "./request-info.ts";
import { parseTraceparent } from "./traceparent.ts";

/** Samplers, by their names in `OTEL_TRACES_SAMPLER`. */
export type SamplerName =
  | "always_on"
  | "always_off"
  | "traceidratio"
  | "parentbased_always_on"
  | "parentbased_traceidratio";

/** Which traces begin. */
export interface Sampling {
  readonly sampler: SamplerName;
  /** Share of traces for the ratio samplers, 0 to 1. */
  readonly ratio: number;
}

export interface TracingOptions extends Sampling {
  /** Of work that no request started; the same by default. */
  readonly background?: Sampling;
  /**
   * `trust` continues the trace of a request's traceparent, `link` only links to it, `ignore` drops
   * it.
   */
  readonly remoteParent: "trust" | "link" | "ignore";
}

export interface RequestSpan {
  /** `trace_id` and `span_id` for log lines; empty for a request that is not sampled. */
  readonly fields: LogFields;
  /** Runs with the span as the active one: log lines and calls inside belong to it. */
  run<T>(serve: () => T): T;
  end(ended: EndedRequest): void;
}

/** A finished outgoing call. */
export interface EndedCall {
  readonly name: string;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  /** Milliseconds since 1970. */
  readonly beganMs: number;
  readonly endedMs: number;
  /** `error.type`; undefined on success. */
  readonly failed: string | undefined;
}

/** Work that no request started. */
export interface Work<T> {
  readonly name: string;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  /** `error.type` of a result; undefined on success. */
  readonly failed: (result: T) => string | undefined;
}

export interface Tracing {
  begin(request: BegunRequest): RequestSpan;
  /** Runs in a new trace; log lines and calls inside belong to it. */
  work<T>(work: Work<T>, run: () => Promise<T>): Promise<T>;
  /** Runs in a span below the active one, or in a new trace; a rejection marks it as failed. */
  within<T>(work: Pick<Work<T>, "name" | "attributes">, run: () => Promise<T>): Promise<T>;
  /**
   * Records the span of a call as a child of the active span. Observations made in `measure` get it
   * as exemplar.
   */
  called(call: EndedCall, measure?: () => void): void;
  /** The fields of the active span, for `RootLog.relate`. Empty once that span has ended. */
  fields(): LogFields;
}

const TRACER = "steward";
const NOTHING: LogFields = {};
/** The active span, whoever created it. */
const running = new AsyncLocalStorage<Active>();
/** An active span. Its tracer makes the spans below it. */
interface Active {
  readonly span: Span;
  readonly fields: LogFields;
  readonly tracer: Tracer;
}

/** Bounds the size of a span. */
const LIMITS = { attributeValueLengthLimit: 1_024, attributeCountLimit: 64, linkCountLimit: 8 };

/** Creates spans; sampled ones are passed to `ship` when they end. */
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
  const tracerOf = (sampling: Sampling): Tracer =>
    new TracerProvider({
      sampler: samplerOf(sampling),
      spanLimits: LIMITS,
      spanProcessors: [processor],
    }).getTracer(TRACER);
  const requests = tracerOf(options);
  const background = options.background === undefined ? requests : tracerOf(options.background);
  return {
    begin(request) {
      const span = startSpan(requests, request, options.remoteParent);
      const fields = fieldsOf(span);
      return {
        fields,
        run: (serve) => running.run({ span, fields, tracer: requests }, serve),
        end: (ended) => endSpan(span, request, ended),
      };
    },
    async work(work, run) {
      const span = background.startSpan(
        work.name,
        { kind: SpanKind.INTERNAL, attributes: work.attributes },
        ROOT_CONTEXT,
      );
      let failed: string | undefined = "_OTHER";
      try {
        const active = { span, fields: fieldsOf(span), tracer: background };
        const result = await running.run(active, run);
        failed = work.failed(result);
        return result;
      } finally {
        if (failed !== undefined) fail(span, failed);
        span.end();
      }
    },
    async within({ name, attributes }, run) {
      const active = running.getStore();
      // A request that has been answered is not the parent of the job it started.
      const parent = active?.span.isRecording() === true ? active : undefined;
      const tracer = parent?.tracer ?? background;
      const span = tracer.startSpan(
        name,
        { kind: SpanKind.INTERNAL, attributes },
        parent === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent.span),
      );
      try {
        return await running.run({ span, fields: fieldsOf(span), tracer }, run);
      } catch (error) {
        fail(span, toStewardError(error).code);
        throw error;
      } finally {
        span.end();
      }
    },
    called({ name, attributes, beganMs, endedMs, failed }, measure) {
      const parent = running.getStore();
      const tracer = parent?.tracer ?? background;
      const span = tracer.startSpan(
        name,
        { kind: SpanKind.CLIENT, attributes, startTime: beganMs },
        parent === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent.span),
      );
      if (failed !== undefined) fail(span, failed);
      if (measure !== undefined) running.run({ span, fields: fieldsOf(span), tracer }, measure);
      span.end(endedMs);
    },
    fields: runningFields,
  };
}

/**
 * `trace_id` and `span_id` of the active span. Empty once it has ended: work that a request left
 * behind, such as a job, continues after it.
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
  const name =
    request.name ?? (protocol === "rest" ? `${method} ${route}` : route.replace(/^\//, ""));
  return tracer.startSpan(
    name,
    { kind: SpanKind.SERVER, attributes: attributesOf(request), links },
    parent,
  );
}

/**
 * Named by the semantic conventions. Never the request path, which may identify what only its
 * reader may know.
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

function endSpan(
  span: Span,
  { protocol }: BegunRequest,
  { code, failed, attributes }: EndedRequest,
): void {
  if (attributes !== undefined) span.setAttributes(attributes);
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

function samplerOf({ sampler, ratio }: Sampling): Sampler {
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
    // Only our own attributes, all scalars.
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
