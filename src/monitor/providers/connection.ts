/**
 * Clients of a control plane over the kernel's client. Neither breaker nor shared retry budget: a
 * poller asks seldom and one after another, each call has the attempts that were configured, and
 * one endpoint that fails must not keep the others from being asked.
 */
import { StewardError } from "../../kernel/base/errors.ts";
import { createClientFactory } from "../../kernel/client/client.ts";
import { createTokenBucket } from "../../kernel/client/token-bucket.ts";
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

/** Calls at once, the waiting ones included: every collector has one in flight. */
const MOST_CALLS = 64;
const CONNECTIONS = 4;
const SLICE_MS = 5;
const LONGEST_CALL_MS = 2 ** 31 - 1;

/** One client of a control plane. */
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

/** The address as configured. Throws `invalid`, without repeating it: it may hold a password. */
export function baseOf(url: string, name: string): URL {
  const base = URL.parse(url.replace(/\/+$/, ""));
  if (base === null)
    throw new StewardError("invalid", `the address of ${name} is no URL`, {
      rule: "base",
      remedy: "give scheme, host and at most a path",
    });
  return base;
}

/** The rate that all clients of a network share; undefined for none. */
export function bucketOf(
  { rateLimit }: HttpOptions,
  { clock }: Pick<ProviderDeps, "clock">,
): TokenBucket | undefined {
  return rateLimit > 0
    ? createTokenBucket({ capacity: 1, perSecond: rateLimit, waiting: MOST_CALLS }, clock)
    : undefined;
}

/** A client. Throws `invalid` for a base that cannot be one. */
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
    observe: (report) => tellAttempt(spec.name, report, deps),
    observeCall(report) {
      tellCall(spec.name, report, deps);
      deps.observe(report);
    },
  });
}

function limitsOf({ http, bodyBytes, bodyKey }: ConnectionSpec): ClientLimits {
  const longestWaitMs = http.rateLimit > 0 ? (MOST_CALLS * 1_000) / http.rateLimit : 0;
  return {
    connectMs: http.timeoutMs,
    attemptMs: http.timeoutMs,
    callMs: Math.min(
      LONGEST_CALL_MS,
      Math.max(1, http.maxAttempts) * (http.timeoutMs + http.maxDelayMs + longestWaitMs),
    ),
    wireBytes: bodyBytes,
    bodyBytes,
    ...(bodyKey === undefined ? {} : { bodyKey }),
    json: { bytes: bodyBytes, depth: 64, stringBytes: 4 * MIB, elements: 500_000 },
    sliceMs: SLICE_MS,
    connections: CONNECTIONS,
    inFlight: MOST_CALLS,
  };
}

function tellAttempt(
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

function tellCall(
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
