/** Classifies export errors by gRPC status, HTTP status or system error. */
import type { ErrorClass } from "../../status.ts";
import { RequestTooLarge } from "./sized.ts";

const GRPC: Readonly<Record<number, ErrorClass>> = {
  1: "canceled",
  3: "invalid",
  4: "timeout",
  7: "unauthenticated",
  8: "rate_limited",
  9: "invalid",
  11: "invalid",
  12: "invalid",
  14: "unavailable",
  16: "unauthenticated",
};

const HTTP: Readonly<Record<number, ErrorClass>> = {
  400: "invalid",
  401: "unauthenticated",
  403: "unauthenticated",
  404: "invalid",
  408: "timeout",
  413: "invalid",
  415: "invalid",
  422: "invalid",
  429: "rate_limited",
  502: "unavailable",
  503: "unavailable",
  504: "unavailable",
};

const SYSTEM: Readonly<Record<string, ErrorClass>> = {
  ECONNREFUSED: "unavailable",
  ECONNRESET: "unavailable",
  ENOTFOUND: "unavailable",
  EAI_AGAIN: "unavailable",
  EPIPE: "unavailable",
  EHOSTUNREACH: "unavailable",
  ENETUNREACH: "unavailable",
  ETIMEDOUT: "timeout",
};

/** TLS errors; gRPC reports them as unavailable. */
const UNTRUSTED = /^(ERR_SSL|ERR_TLS|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/;

/** gRPC statuses that allow a retry (OTLP specification). */
export const RETRYABLE_GRPC: ReadonlySet<number> = new Set([1, 4, 10, 11, 14, 15]);

/** HTTP 404 and gRPC UNIMPLEMENTED: of class `invalid`, but caused by a wrong address. */
const NOT_SERVED: ReadonlySet<unknown> = new Set([404, 12]);

/** Whether the items themselves are rejected, so that every attempt to send them fails. */
export function isOfContents(error: unknown): boolean {
  return classify(error) === "invalid" && !NOT_SERVED.has((error as { code?: unknown }).code);
}

/**
 * Whether a receiver may answer so to items that it cannot process: with a status that OTLP calls
 * not retryable, such as 500 or INTERNAL, and for no reason of its own that is known.
 */
export function maybeOfContents(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "number" && !RETRYABLE_GRPC.has(code) && classify(error) === "other";
}

/** Whether the HTTP exporter gave up on an answer that it does not name. */
export function isRetryableAnswer(error: unknown): boolean {
  const { message } = (error ?? {}) as { readonly message?: unknown };
  return typeof message === "string" && message.includes("retryable status");
}

/**
 * The class of an error. `httpStatus`: the last status of such requests, for errors that lack one.
 */
export function classify(error: unknown, httpStatus?: number): ErrorClass {
  if (error instanceof RequestTooLarge) return "invalid";
  const { code, message } = (error ?? {}) as {
    readonly code?: unknown;
    readonly message?: unknown;
  };
  const text = typeof message === "string" ? message : "";
  // gRPC reports a receiver's size limit as a resource exhausted status.
  if (code === 8 && /larger than max|too large/i.test(text)) return "invalid";
  if (typeof code === "number") return (code < 100 ? GRPC : HTTP)[code] ?? "other";
  if (typeof code === "string")
    return SYSTEM[code] ?? (UNTRUSTED.test(code) ? "unavailable" : "other");
  if (/timed out|timeout/i.test(text)) return "timeout";
  if (isRetryableAnswer(error) && httpStatus !== undefined) return HTTP[httpStatus] ?? "other";
  return "other";
}
