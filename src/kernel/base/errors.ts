/**
 * The one error type, and the translation of foreign errors. The gateway's dialects map codes to
 * HTTP status, gRPC status and error body.
 */

import { constants } from "node:os";

/** The error codes that every surface maps from. */
export type Code =
  | "invalid"
  | "unauthenticated"
  | "denied"
  | "not_found"
  | "conflict"
  | "already_running"
  | "too_large"
  | "exhausted"
  | "not_ready"
  | "sealed"
  | "upstream"
  | "unsupported"
  | "cancelled"
  | "deadline"
  | "disk_full"
  | "corrupt"
  | "internal";

/** One finding within an error, e.g. a violated rule of a request. */
export interface Detail {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly code: string;
  readonly rule?: string;
}

/** `cause` stays inside the process. */
export interface ErrorOptions {
  readonly field?: string;
  readonly rule?: string;
  readonly remedy?: string;
  readonly details?: readonly Detail[];
  /** A JSON value for surfaces whose details are not findings, e.g. readiness checks. */
  readonly facts?: unknown;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/**
 * An error meant for clients: its message names the subject, the rule and the remedy, and contains
 * no internals.
 */
export class StewardError extends Error {
  readonly code: Code;
  readonly field: string | undefined;
  readonly rule: string | undefined;
  readonly remedy: string | undefined;
  readonly details: readonly Detail[] | undefined;
  readonly facts: unknown;
  readonly retryAfterMs: number | undefined;

  constructor(code: Code, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "StewardError";
    this.code = code;
    this.field = options.field;
    this.rule = options.rule;
    this.remedy = options.remedy;
    this.details = options.details;
    this.facts = options.facts;
    this.retryAfterMs = options.retryAfterMs;
  }
}

const systemCodes: Readonly<Record<string, Code>> = {
  ENOSPC: "disk_full",
  EDQUOT: "disk_full",
  ENOENT: "not_found",
  EISDIR: "invalid",
  ENOTDIR: "invalid",
  ELOOP: "invalid",
  ENAMETOOLONG: "invalid",
  EACCES: "denied",
  EPERM: "denied",
  EROFS: "denied",
  EIO: "internal",
  ENFILE: "exhausted",
  ETIMEDOUT: "deadline",
  ECONNREFUSED: "upstream",
  ECONNRESET: "upstream",
  ENOTFOUND: "upstream",
  EMFILE: "exhausted",
  ERR_WORKER_OUT_OF_MEMORY: "exhausted",
};

/** Converts anything thrown into a StewardError. The only place that inspects foreign errors. */
export function toStewardError(thrown: unknown): StewardError {
  if (thrown instanceof StewardError) return thrown;
  if (!(thrown instanceof Error))
    return new StewardError("internal", "something that is not an error was thrown", {
      cause: thrown,
    });
  if (thrown.name === "AbortError") {
    const reason: unknown = thrown.cause;
    return reason instanceof StewardError
      ? reason
      : new StewardError("cancelled", "cancelled", { cause: thrown });
  }
  if (thrown.name === "TimeoutError")
    return new StewardError("deadline", "took longer than allowed", { cause: thrown });
  const system = systemCodeOf(thrown);
  if (system !== undefined && Object.hasOwn(systemCodes, system)) {
    return new StewardError(systemCodes[system] as Code, thrown.message, { cause: thrown });
  }
  if (/MDB_MAP_FULL/.test(thrown.message))
    return new StewardError("disk_full", "the store reached its maximum size", { cause: thrown });
  if (/MDB_(CORRUPTED|PAGE_NOTFOUND|INVALID)/.test(thrown.message))
    return new StewardError("corrupt", "the store is damaged", { cause: thrown });
  return new StewardError("internal", "internal error", { cause: thrown });
}

/**
 * The system's code of an error, e.g. `ENOSPC`; undefined for other errors. Node has no name for an
 * exceeded quota.
 */
export function systemCodeOf(thrown: unknown): string | undefined {
  const { code, errno } = (thrown ?? {}) as { code?: unknown; errno?: unknown };
  if (errno === -constants.errno.EDQUOT) return "EDQUOT";
  return typeof code === "string" ? code : undefined;
}

/**
 * The part of an error that may be shown without a credential: the message of a StewardError, only
 * the code of a foreign one, whose text may contain paths and addresses.
 */
export function ownMessage(thrown: unknown): string {
  const { cause, code, message } = toStewardError(thrown);
  if (!(cause instanceof Error) || cause.message !== message) return message;
  const system = systemCodeOf(cause);
  return `${code.replace("_", " ")}${system === undefined ? "" : ` (${system})`}; see the log`;
}

/** An error's message and, unless included already, its remedy, as one line. */
export function errorWithRemedy({ message, remedy }: StewardError): string {
  return remedy === undefined || message.includes(remedy) ? message : `${message}; ${remedy}`;
}

/** Throws on a programming error. `why` states the assumption. */
export function assert(condition: unknown, why: string): asserts condition {
  if (!condition) throw new StewardError("internal", `assertion failed: ${why}`);
}
