/**
 * Maps error codes to HTTP and gRPC statuses for every surface, and decides what of an error
 * clients may see.
 */
import { Code as RpcCode } from "@connectrpc/connect";
import { StewardError, toStewardError, type Code } from "../src/kernel/base/errors.ts";
import { BAD_REQUEST } from "../src/kernel/wire/issues.ts";
import type { DialectName } from "../src/kernel/wire/style.ts";

/**
 * The rule of the `not_found` error for a path without a route, as opposed to a missing resource.
 */
export const UNKNOWN_ROUTE = "unknown_route";

interface Row {
  readonly status: Readonly<Record<DialectName, number>>;
  /** `error.code` of dedup's surface. */
  readonly dedup: string;
  readonly rpc: RpcCode;
}

function row(
  monitor: number,
  dedupStatus: number,
  dedup: string,
  vault: number,
  rpc: RpcCode,
): Row {
  return { status: { monitor, dedup: dedupStatus, vault }, dedup, rpc };
}

const rows: Readonly<Record<Code, Row>> = {
  invalid: row(400, 400, "VALIDATION_FAILED", 400, RpcCode.InvalidArgument),
  unauthenticated: row(401, 401, "UNAUTHORIZED", 403, RpcCode.Unauthenticated),
  denied: row(403, 401, "UNAUTHORIZED", 403, RpcCode.PermissionDenied),
  not_found: row(404, 404, "NOT_FOUND", 404, RpcCode.NotFound),
  unsupported: row(405, 405, "METHOD_NOT_ALLOWED", 405, RpcCode.Unimplemented),
  conflict: row(409, 409, "CONFLICT", 400, RpcCode.FailedPrecondition),
  already_running: row(409, 409, "JOB_ALREADY_RUNNING", 400, RpcCode.AlreadyExists),
  too_large: row(413, 413, "PAYLOAD_TOO_LARGE", 413, RpcCode.ResourceExhausted),
  exhausted: row(503, 429, "TOO_MANY_REQUESTS", 429, RpcCode.ResourceExhausted),
  upstream: row(502, 502, "BAD_GATEWAY", 502, RpcCode.Unavailable),
  deadline: row(504, 502, "BAD_GATEWAY", 504, RpcCode.DeadlineExceeded),
  not_ready: row(503, 503, "SERVICE_UNAVAILABLE", 503, RpcCode.Unavailable),
  sealed: row(503, 503, "SERVICE_UNAVAILABLE", 503, RpcCode.Unavailable),
  cancelled: row(503, 503, "SERVICE_UNAVAILABLE", 503, RpcCode.Canceled),
  disk_full: row(503, 507, "INSUFFICIENT_STORAGE", 507, RpcCode.ResourceExhausted),
  corrupt: row(500, 500, "INTERNAL_ERROR", 500, RpcCode.Internal),
  internal: row(500, 500, "INTERNAL_ERROR", 500, RpcCode.Internal),
};

/** The rule of an `invalid` for a media type that the method does not accept. */
const MEDIA_TYPE = "media_type";

/** The HTTP status of an error on a REST surface. */
export function httpStatus(error: StewardError, dialect: DialectName): number {
  if (error.rule === MEDIA_TYPE && dialect === "vault") return 415;
  return rows[error.code].status[dialect];
}

/**
 * Dedup's `error.code`. An `invalid` with the rule `bad_request` is `BAD_REQUEST`; a `not_ready`
 * that carries its checks is `NOT_READY`, any other is `SERVICE_UNAVAILABLE`.
 */
export function dedupCode(error: StewardError): string {
  if (error.code === "invalid" && error.rule === BAD_REQUEST) return "BAD_REQUEST";
  if (error.code === "not_ready" && error.facts !== undefined) return "NOT_READY";
  return rows[error.code].dedup;
}

/**
 * The gRPC and Connect status. Tokens report a missing credential as permission denied; an unknown
 * path is unimplemented.
 */
export function rpcCode(error: StewardError, dialect: DialectName): RpcCode {
  if (error.code === "unauthenticated" && dialect === "vault") return RpcCode.PermissionDenied;
  if (error.code === "not_found" && error.rule === UNKNOWN_ROUTE) return RpcCode.Unimplemented;
  return rows[error.code].rpc;
}

/** Whether an error is a programming error: logged with its cause, answered without it. */
export function isInternal(error: StewardError): boolean {
  return error.code === "internal" || error.code === "corrupt";
}

const FOREIGN_TEXTS: Partial<Record<Code, string>> = {
  cancelled: "cancelled",
  deadline: "took longer than allowed",
  disk_full: "the disk is full; free space in the state folder",
  corrupt: "internal error",
  exhausted: "out of memory or file handles; try again later",
};

/**
 * Converts anything thrown into an error that a client may see, with the original as its cause.
 * Only a StewardError is shown: the text of a foreign error may contain paths and addresses, and
 * its ENOENT is not the client's "not found".
 */
export function seenError(thrown: unknown, requestId: string): StewardError {
  const known = toStewardError(thrown);
  if (isInternal(known))
    return new StewardError(known.code, `internal error; see the log for request ${requestId}`, {
      cause: thrown,
    });
  if (known === thrown || isReason(thrown, known)) return known;
  const text = FOREIGN_TEXTS[known.code];
  if (text !== undefined) return new StewardError(known.code, text, { cause: thrown });
  return new StewardError("internal", `internal error; see the log for request ${requestId}`, {
    cause: thrown,
  });
}

/** An AbortError with one of our errors as its reason. */
function isReason(thrown: unknown, known: StewardError): boolean {
  return thrown instanceof Error && thrown.cause === known;
}

/**
 * The error text on every surface: the message and, unless included already, its remedy. A message
 * that ends in its own line break is known to clients verbatim.
 */
export function errorText({ message, remedy }: StewardError): string {
  return remedy === undefined || message.endsWith("\n") || message.includes(remedy)
    ? message
    : `${message}; ${remedy}`;
}

/** Whole seconds for `Retry-After`, at least one; undefined when the error asks for no delay. */
export function retryAfterSeconds(error: StewardError): number | undefined {
  if (error.retryAfterMs !== undefined) return Math.max(1, Math.ceil(error.retryAfterMs / 1000));
  return error.code === "exhausted" ? 1 : undefined;
}
