/** Parses the trace context of a request (W3C Trace Context, levels 1 and 2). */
import { createTraceState } from "@opentelemetry/api";
import type { SpanContext } from "@opentelemetry/api";

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = "0".repeat(32);
const NO_SPAN = "0".repeat(16);
/** Longer ones are dropped, as the specification allows. */
const TRACESTATE_CHARACTERS = 512;

type Header = string | string[] | undefined;

/**
 * Undefined when the header is missing, repeated or malformed; the request then starts a new trace.
 */
export function parseTraceparent(traceparent: Header, tracestate: Header): SpanContext | undefined {
  if (typeof traceparent !== "string") return undefined;
  const [, version, traceId = NO_TRACE, spanId = NO_SPAN, flags = "00", more] =
    TRACEPARENT.exec(traceparent.trim()) ?? [];
  if (version === undefined || version === "ff" || traceId === NO_TRACE || spanId === NO_SPAN)
    return undefined;
  // Only future versions may have further fields.
  if (version === "00" && more !== undefined) return undefined;
  const state = (Array.isArray(tracestate) ? tracestate : [tracestate ?? ""]).join(",");
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
    ...(state === "" || state.length > TRACESTATE_CHARACTERS
      ? {}
      : { traceState: createTraceState(state) }),
  };
}
