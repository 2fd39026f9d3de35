/**
 * HTTP clients of a control plane. There is no circuit breaker or shared retry budget: polling is
 * rare and sequential, each call makes its configured attempts, and one failing endpoint must not
 * block others.
 */
import { StewardError } from "../../kernel/base/errors.ts";
import { createClientFactory } from "../../kernel/client/client.ts";
import { createTokenBucket } from "../../kernel/client/call/token-bucket.ts";
import type {
  AttemptReport,
  Authorizer,
  CallReport,
  Client,
  ClientLimits,
  TokenBucket,
} from "../../kernel/client/types.ts";
import type { HttpOptions } from "../options.ts";
import type { ProviderDeps } from "./deps.ts";

const MIB = 1024 * 1024;

/** Concurrent calls, waiting ones included; each collector has one in flight. */
const MAX_CALLS = 64;
const CONNECTIONS = 4;
const SLICE_MS = 5;
const MAX_CALL_MS = 2 ** 31 - 1;

export interface ConnectionSpec {
  readonly name: string;
  readonly base: URL;
  readonly auth: Authorizer;
  readonly http: HttpOptions;
  readonly bucket: TokenBucket | undefined;
  readonly bodyBytes: number;
  /** Configuration key of `bodyBytes`. */
  readonly bodyKey?: string;
}

/** The configured address. Throws `invalid` without quoting it, since it may contain a password. */
export function baseOf(url: string, name: string): URL {
  const base = URL.parse(url.replace(/\/+$/, ""));
  if (base === null)
    throw new StewardError("invalid", `the address of ${name} is no URL`, {
      rule: "base",
      remedy: "give scheme, host and at most a path",
    });
  return base;
}

/** Rate limiter shared by all clients of a network; undefined for no limit. */
export function bucketOf(
  { rateLimit }: HttpOptions,
  { clock }: Pick<ProviderDeps, "clock">,
): TokenBucket | undefined {
  return rateLimit > 0
    ? createTokenBucket({ capacity: 1, perSecond: rateLimit, waiting: MAX_CALLS }, clock)
    : undefined;
}

/** Throws `invalid` for an unusable base URL. */
export function connect(spec: ConnectionSpec, deps: ProviderDeps): Client {
  const { http, bucket } = spec;
  return createClientFactory(deps).create({
    name: spec.name,
    base: spec.base,
    auth: spec.auth,
    limits: limitsOf(spec),
    retry: {
      retries: Math.max(0, http.maxAttempts - 1),
      baseDelayMs: http.baseDelayMs,
      maxDelayMs: http.maxDelayMs,
      budget: "none",
    },
    ...(bucket === undefined ? {} : { bucket }),
    breaker: "none",
    redirects: "same-origin",
    observe: (report) => reportAttempt(spec.name, report, deps),
    observeCall(report) {
      reportCall(spec.name, report, deps);
      deps.observe(report);
    },
  });
}

function limitsOf({ http, bodyBytes, bodyKey }: ConnectionSpec): ClientLimits {
  const longestWaitMs = http.rateLimit > 0 ? (MAX_CALLS * 1_000) / http.rateLimit : 0;
  return {
    connectMs: http.timeoutMs,
    attemptMs: http.timeoutMs,
    callMs: Math.min(
      MAX_CALL_MS,
      Math.max(1, http.maxAttempts) * (http.timeoutMs + http.maxDelayMs + longestWaitMs),
    ),
    wireBytes: bodyBytes,
    bodyBytes,
    ...(bodyKey === undefined ? {} : { bodyKey }),
    json: { bytes: bodyBytes, depth: 64, stringBytes: 4 * MIB, elements: 500_000 },
    sliceMs: SLICE_MS,
    connections: CONNECTIONS,
    inFlight: MAX_CALLS,
  };
}

function reportAttempt(
  name: string,
  { operation, status, class: kind, attempt }: AttemptReport,
  { log }: ProviderDeps,
): void {
  if (kind === undefined || kind === "cancelled") return;
  if (kind === "rate_limited")
    log.info(`${name} limits the request rate`, { endpoint: operation, status, attempt });
  else
    log.debug(`an attempt to call ${name} failed`, {
      endpoint: operation,
      status,
      class: kind,
      attempt,
    });
}

function reportCall(
  name: string,
  { operation, status, class: kind }: CallReport,
  { log }: ProviderDeps,
): void {
  const refused = status === 401 || (status === 403 && operation.startsWith("oauth/"));
  if (refused)
    log.error(`${name} rejects the credential; check the configured one`, {
      endpoint: operation,
      status,
    });
  else if (kind === "redirect")
    log.error(
      `${name} answers with a redirect, which is not followed; if you trust its target, configure that address`,
      { endpoint: operation, status },
    );
}
