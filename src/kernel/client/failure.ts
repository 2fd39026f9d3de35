/** Failures of calls in one table: class, error code, and whether a retry makes sense. */
import { type Code, StewardError } from "../base/errors.ts";
import type { ReplyHeaders } from "./reply-headers.ts";

export type FailureClass =
  | "auth"
  | "forbidden"
  | "not_found"
  | "rate_limited"
  | "rejected"
  | "server"
  | "redirect"
  | "transport"
  | "timeout"
  | "decode"
  | "too_large"
  | "unavailable"
  | "cancelled";

interface ClassRule {
  /** Of the error. An upstream's 401 is not a 401 of ours. */
  readonly code: Code;
  /** Whether the same request may succeed a moment later. */
  readonly passing: boolean;
  /** Whether it indicates an upstream outage. */
  readonly trouble: boolean;
  readonly meaning: string;
  readonly remedy?: string;
}

export const failureClasses: Readonly<Record<FailureClass, ClassRule>> = {
  auth: {
    code: "upstream",
    passing: false,
    trouble: false,
    meaning: "the credential was rejected",
    remedy: "check the configured credential",
  },
  forbidden: {
    code: "upstream",
    passing: false,
    trouble: false,
    meaning: "the credential lacks the permission",
    remedy: "give the credential the permission or scope",
  },
  not_found: {
    code: "upstream",
    passing: false,
    trouble: false,
    meaning: "not found at this address",
  },
  rate_limited: { code: "exhausted", passing: true, trouble: false, meaning: "too many requests" },
  rejected: {
    code: "upstream",
    passing: false,
    trouble: false,
    meaning: "the request was refused",
  },
  server: { code: "upstream", passing: true, trouble: true, meaning: "the upstream failed" },
  redirect: {
    code: "upstream",
    passing: false,
    trouble: false,
    meaning: "a redirect that is not followed",
    remedy: "configure the address that it leads to, if you trust it",
  },
  transport: { code: "upstream", passing: true, trouble: true, meaning: "the connection failed" },
  timeout: {
    code: "deadline",
    passing: true,
    trouble: true,
    meaning: "no complete response in time",
  },
  decode: {
    code: "upstream",
    passing: false,
    trouble: false,
    meaning: "the response is invalid",
    remedy: "check that the address is the API's",
  },
  too_large: {
    code: "upstream",
    passing: false,
    trouble: false,
    meaning: "the response is too large",
    remedy: "raise the limit or request less",
  },
  unavailable: {
    code: "upstream",
    passing: false,
    trouble: false,
    meaning: "not called, because too many recent calls failed",
  },
  cancelled: { code: "cancelled", passing: false, trouble: false, meaning: "cancelled" },
};

/**
 * The class of an error status. 403 is a rate limit when its headers say so (the secondary limits
 * of code forges).
 */
export function classifyStatus(status: number, headers: ReplyHeaders): FailureClass {
  if (status === 401) return "auth";
  if (status === 403)
    return headers["retry-after"] !== undefined || headers["x-ratelimit-remaining"] === "0"
      ? "rate_limited"
      : "forbidden";
  if (status === 404 || status === 410) return "not_found";
  if (status === 408) return "timeout";
  if (status === 429) return "rate_limited";
  if (status >= 500) return "server";
  return status >= 300 && status < 400 ? "redirect" : "rejected";
}

/** Details of a failure beyond its error. */
export interface Failure {
  readonly class: FailureClass;
  /** 0 when no response came. */
  readonly status: number;
  /** The delay requested by the upstream. */
  readonly retryAfterMs?: number;
  /** More specific than the class, if known, e.g. `oauth_invalid_client`. */
  readonly reason?: string;
  /**
   * The operation, e.g. `devices`; the URL without query; and the refusing peer, e.g. `ECONNREFUSED
   * 127.0.0.1:8081`.
   */
  readonly operation?: string;
  readonly url?: string;
  readonly system?: string;
  /**
   * The first 16 KiB of the response body, if any. Never shown directly: it may contain anything.
   */
  readonly body?: string;
}

// Stored beside the errors, so that a body is never shown by accident.
const failures = new WeakMap<StewardError, Failure>();

/** The error of a failure; `what` is appended to the class's message. */
export function failed(failure: Failure, what?: string, cause?: unknown): StewardError {
  const rule = failureClasses[failure.class];
  const status = failure.status === 0 ? "" : ` (status ${failure.status})`;
  const error = new StewardError(
    rule.code,
    `${rule.meaning}${status}${what === undefined ? "" : `: ${what}`}`,
    {
      rule: failure.class,
      ...(rule.remedy === undefined ? {} : { remedy: rule.remedy }),
      ...(failure.retryAfterMs === undefined ? {} : { retryAfterMs: failure.retryAfterMs }),
      ...(cause === undefined ? {} : { cause }),
    },
  );
  failures.set(error, failure);
  return error;
}

/**
 * The same failure with the name of the call, e.g. `headscale: listing nodes: the upstream failed
 * (status 503)`.
 */
export function named(
  error: StewardError,
  failure: Failure,
  client: string,
  operation: string,
): StewardError {
  const outer = new StewardError(error.code, `${client}: ${operation}: ${error.message}`, {
    rule: failure.class,
    cause: error,
    ...(error.remedy === undefined ? {} : { remedy: error.remedy }),
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
  });
  failures.set(outer, { operation, ...failure });
  return outer;
}

/**
 * An error for the operator, with the URL: `…: the connection failed: ECONNREFUSED 127.0.0.1:8081
 * (http://127.0.0.1:8081/api)`. Other errors by their message.
 */
export function describeFailure(error: StewardError): string {
  const { system, url } = failures.get(error) ?? {};
  const code = system?.split(" ", 1)[0] ?? "";
  const message =
    system === undefined || error.message.includes(system)
      ? error.message
      : error.message.endsWith(code)
        ? `${error.message.slice(0, -code.length)}${system}`
        : `${error.message} (${system})`;
  return url === undefined ? message : `${message} (${url})`;
}

/**
 * What several failed calls of one upstream have in common: class, status, and cause, with the
 * upstream's origin. Other errors by their message.
 */
export function rootCause(error: StewardError): string {
  const failure = failures.get(error);
  if (failure?.url === undefined) return error.message;
  const { class: kind, status, system, url } = failure;
  return `${failureClasses[kind].meaning}${status === 0 ? "" : ` (status ${status})`}${system === undefined ? "" : `: ${system}`} (${new URL(url).origin})`;
}

/** As `rootCause`, without any address: for readers who may not see how the upstream is reached. */
export function causeWithoutAddress(error: StewardError): string {
  const failure = failures.get(error);
  if (failure === undefined) return error.message;
  const { class: kind, status, system } = failure;
  const code = system?.split(" ", 1)[0];
  return `${failureClasses[kind].meaning}${status === 0 ? "" : ` (status ${status})`}${code === undefined ? "" : `: ${code}`}`;
}

/**
 * The same failure with nothing but its class and status, for what `describeFailure` and `rootCause`
 * show: its message never has an address. The log still has the cause.
 */
export function withoutAddress(error: StewardError): StewardError {
  const failure = failures.get(error);
  if (failure === undefined) return error;
  const { class: kind, status } = failure;
  const outer = new StewardError(error.code, error.message, {
    rule: kind,
    cause: error,
    ...(error.remedy === undefined ? {} : { remedy: error.remedy }),
  });
  failures.set(outer, { class: kind, status });
  return outer;
}

/** Details of an error thrown by a client; undefined for any other. */
export function failureOf(error: unknown): Failure | undefined {
  return error instanceof StewardError ? failures.get(error) : undefined;
}

/**
 * Converts any error of an attempt. Errors of the JSON reader are `decode` or `too_large`; all
 * foreign ones are `transport`.
 */
export function toFailed(error: unknown, status: number): StewardError {
  if (!(error instanceof StewardError))
    return failed(
      { class: "transport", status, ...systemOf(error) },
      describeForeign(error),
      error,
    );
  if (failures.has(error)) return error;
  if (error.code === "too_large")
    return failed({ class: "too_large", status }, error.message, error);
  if (error.code === "invalid") return failed({ class: "decode", status }, error.message, error);
  return error;
}

/** The system's error code and the peer's address, if any. */
export function systemOf(error: unknown): Pick<Failure, "system"> {
  const { errors, address, port, hostname } = (error ?? {}) as {
    readonly errors?: readonly unknown[];
    readonly address?: unknown;
    readonly port?: unknown;
    readonly hostname?: unknown;
  };
  const code = describeForeign(error);
  // Several addresses of one name were tried: the last one represents all.
  if (Array.isArray(errors) && errors.length > 0) return systemOf(errors.at(-1));
  if (code === undefined) return {};
  const peer =
    typeof address === "string" && typeof port === "number"
      ? ` ${address.includes(":") ? `[${address}]` : address}:${port}`
      : typeof hostname === "string"
        ? ` ${hostname}`
        : "";
  return { system: `${code}${peer}` };
}

// A foreign message may quote what was sent; a code never does.
function describeForeign(error: unknown): string | undefined {
  const code = (error as { readonly code?: unknown } | undefined)?.code;
  return typeof code === "string" && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : undefined;
}
