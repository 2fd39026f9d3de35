/**
 * The one error type of the house and the one place that understands foreign errors. What a code
 * means on a surface (HTTP status, gRPC status, error body) is decided by the gateway's dialects,
 * never here.
 */

import { constants } from "node:os";

/** What went wrong, in the vocabulary every surface maps from. */
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

/** One finding inside an error, e.g. one violated rule of a request. */
export interface Detail {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly code: string;
  readonly rule?: string;
}

/** What may accompany an error. `cause` stays inside the process. */
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
 * An error meant to be seen: its message names the thing, the rule and the remedy, and holds no
 * internals.
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

/** Turns anything thrown into a StewardError. The only place that looks at foreign errors. */
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
 * The system's name of an error, e.g. `ENOSPC`; undefined when it is none of the system. Node has
 * no name for a quota that is used up.
 */
export function systemCodeOf(thrown: unknown): string | undefined {
  const { code, errno } = (thrown ?? {}) as { code?: unknown; errno?: unknown };
  if (errno === -constants.errno.EDQUOT) return "EDQUOT";
  return typeof code === "string" ? code : undefined;
}

/**
 * What anybody may read of an error, also without a credential: the message of one of ours, but of
 * somebody else's only its code, for its text may name paths and addresses.
 */
export function ownMessage(thrown: unknown): string {
  const { cause, code, message } = toStewardError(thrown);
  if (!(cause instanceof Error) || cause.message !== message) return message;
  const system = systemCodeOf(cause);
  return `${code.replace("_", " ")}${system === undefined ? "" : ` (${system})`}; see the log`;
}

/** An error's message and, unless that says it already, its remedy, as one line. */
export function errorWithRemedy({ message, remedy }: StewardError): string {
  return remedy === undefined || message.includes(remedy) ? message : `${message}; ${remedy}`;
}

/** Stops at our own mistakes. `why` says what was taken for granted. */
export function assert(condition: unknown, why: string): asserts condition {
  if (!condition) throw new StewardError("internal", `assertion failed: ${why}`);
}
