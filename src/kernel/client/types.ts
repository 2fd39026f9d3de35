/** Interfaces of the client of an external HTTP API. */
import type { Secret } from "../base/secret.ts";
import type { JsonBudget, JsonPath } from "../json/budget.ts";
import type { Failure, FailureClass } from "./failure.ts";
import type { ReplyHeaders } from "./reply-headers.ts";

/** Provides the value of the Authorization header, scheme included. */
export interface Authorizer {
  /** Undefined: the header is omitted. Rejects when no credential is available. */
  authorization(signal: AbortSignal): Promise<Secret | undefined>;
  /**
   * Called when the upstream answered 401 to this value. True when another value may be available.
   */
  refused(value: Secret): boolean;
}

/** Limits of every call. */
export interface ClientLimits {
  /** Connecting, including TLS. */
  readonly connectMs: number;
  /** One attempt: credential, connecting, headers and body; without waiting for the bucket. */
  readonly attemptMs: number;
  /**
   * What `attemptMs` bounds of a stream: all of it (the default), or first its headers and then the
   * wait for each piece.
   */
  readonly streams?: "whole" | "pieces";
  /**
   * The whole call: attempts, delays between them, waiting for the bucket. For a list: each page.
   */
  readonly callMs: number;
  /** Body bytes on the wire. */
  readonly wireBytes: number;
  /** Body bytes after decompression. */
  readonly bodyBytes: number;
  /**
   * The configuration key of `bodyBytes`, e.g. `headscale.max_response_bytes`, named when a
   * response is too large.
   */
  readonly bodyKey?: string;
  /** Depth, strings and elements of JSON bodies; its `bytes` also counts after decompression. */
  readonly json: JsonBudget;
  /** The reader yields to the event loop after this time. */
  readonly sliceMs: number;
  /** Connections to the upstream. */
  readonly connections: number;
  /** Concurrent calls including waiting ones; further ones are refused with `exhausted`. */
  readonly inFlight: number;
  /** Maximum bytes read of an error response, default 16 KiB. */
  readonly errorBytes?: number;
}

/** When a failed attempt is retried. Only what is idempotent, or was never sent, is retried. */
export interface RetryRule {
  /** Attempts after the first one; with a shared budget at most 3. */
  readonly retries: number;
  /** First delay, doubled each time; half of it is random. */
  readonly baseDelayMs: number;
  /** Maximum delay, also for a Retry-After. */
  readonly maxDelayMs: number;
  /**
   * `shared` (default): retries of all calls together are at most a fifth of the calls. `none`:
   * each call has its own retries, for clients with few sequential calls.
   */
  readonly budget?: "shared" | "none";
}

/** Circuit breaker for a failing upstream. */
export interface BreakerRule {
  /** Consecutive failed attempts, over all operations. */
  readonly failures: number;
  /** After this time a single call is let through; its outcome decides. */
  readonly coolMs: number;
}

/** TLS identities where public authorities and credentials are not sufficient. */
export interface TrustRule {
  /** PEM certificates of authorities to use instead of the public ones. */
  readonly ca?: string;
  /** Client certificate and key, PEM. */
  readonly pair?: { readonly cert: string; readonly key: string };
  /** True accepts any certificate for any name. */
  readonly insecureSkipVerify?: boolean;
}

/** A rate limit that several clients may share. */
export interface TokenBucket {
  /**
   * Resolves with the time waited, in milliseconds. Rejects with the signal's reason, or
   * `exhausted` when too many wait.
   */
  take(signal: AbortSignal): Promise<number>;
}

export interface ClientSpec {
  /** Name in messages, e.g. `headscale`. */
  readonly name: string;
  /** Scheme, host and optional path prefix; no user, no query. */
  readonly base: URL;
  /** The Unix socket to connect to; default: the host of the base. */
  readonly socketPath?: string;
  readonly auth: Authorizer;
  readonly limits: ClientLimits;
  readonly retry: RetryRule;
  readonly bucket?: TokenBucket;
  /** Default: 10 failures, 10 s. `none`: a failing operation does not block others. */
  readonly breaker?: BreakerRule | "none";
  /**
   * `same-origin`: at most 10, and only for GET and HEAD, or for 307 and 308 of idempotent
   * requests.
   */
  readonly redirects: "same-origin" | "none";
  readonly trust?: TrustRule;
  /** Called after each attempt; must not throw. */
  readonly observe?: (report: AttemptReport) => void;
  /** Called after each call, and each page of a list; must not throw. */
  readonly observeCall?: (report: CallReport) => void;
}

/** Throws `invalid` for an unusable base. */
export interface ClientFactory {
  create(spec: ClientSpec): Client;
}

/** Undefined parameters are omitted, lists are repeated. */
export type Query = Readonly<
  Record<string, string | number | boolean | readonly (string | number)[] | undefined>
>;

/** A request body, complete so that it can be sent again. */
export interface Body {
  readonly type: string;
  readonly bytes: string | Uint8Array;
}

export interface CallRequest {
  /** Low-cardinality name for status, metrics and messages, e.g. `devices`; never an id. */
  readonly operation: string;
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the base, beginning with `/`; foreign parts encoded (see `pathOf`). */
  readonly path: string;
  readonly query?: Query;
  readonly body?: Body;
  /** Further headers, lower case; never credentials. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Acceptable media types. Default: `application/json` for `json`, anything for `bytes`. */
  readonly accept?: string;
  /**
   * `json` (default): the body is checked and parsed within the budget; an empty one gives
   * undefined.
   */
  readonly read?: "json" | "bytes";
  /** Whether sending it twice has the same effect as sending it once. */
  readonly idempotent: boolean;
  /** True for a failure that is the upstream's final answer, so that a retry is pointless. */
  readonly settled?: (failure: Failure) => boolean;
}

/** A response with a status from 200 to 299. */
export interface Reply {
  readonly status: number;
  readonly headers: ReplyHeaders;
  /** The body after decompression. */
  readonly body: Uint8Array;
  /** The parsed body with `json`. */
  readonly value: unknown;
  readonly attempts: number;
  /** Of the last attempt, without waiting for the bucket. */
  readonly durationMs: number;
}

/** A response with a status from 200 to 299 whose body is still to be read. */
export interface StreamedReply {
  readonly status: number;
  readonly headers: ReplyHeaders;
  /** Decompressed and bounded. Errors are those of a call. */
  readonly body: AsyncGenerator<Uint8Array, void, undefined>;
  /** Ends a response whose body is not read; harmless afterwards. */
  drop(): void;
}

/** A page of a list that was read to its end. */
export interface Page {
  /** Counted from 1. */
  readonly number: number;
  readonly elements: number;
  /** Scalars beside the list. */
  readonly beside: ReadonlyMap<string, unknown>;
  readonly headers: ReplyHeaders;
}

/**
 * The next page: other parameters on the same path, or a link, which must be of the same origin.
 */
export type NextPage = { readonly query: Query } | { readonly link: string };

/** A list, read page by page with GET. */
export interface ListRequest {
  readonly operation: string;
  readonly path: string;
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string>>;
  readonly accept?: string;
  /** Location of the list in a page. */
  readonly at: "concatenated" | JsonPath;
  /**
   * What counts as an empty list: `null` in its place, or also a page without it. Default: neither.
   */
  readonly missing?: "refuse" | "null" | "empty";
  /** Undefined after the last page. Without it there is one page. */
  readonly next?: (page: Page) => NextPage | undefined;
  /** More pages are an error, never a short list. */
  readonly maxPages: number;
}

/** A finished attempt. */
export interface AttemptReport {
  readonly operation: string;
  readonly method: string;
  /** 0 when no response came. */
  readonly status: number;
  /** Undefined on success. */
  readonly class: FailureClass | undefined;
  /**
   * From the start of the attempt to the last byte of the body; without waiting for the bucket or
   * the consumer of a list.
   */
  readonly durationMs: number;
  /** For the bucket. */
  readonly waitedMs: number;
  /** Counted from 1. */
  readonly attempt: number;
}

/** A finished call with all its attempts, or a page of a list. */
export interface CallReport {
  readonly operation: string;
  /** Of the last attempt; 0 when no response came. */
  readonly status: number;
  /** Undefined on success. */
  readonly class: FailureClass | undefined;
  /** 0 when it was not even attempted. */
  readonly attempts: number;
  /**
   * The attempts and the delays between them; without waiting for the bucket or the consumer of a
   * list.
   */
  readonly durationMs: number;
  /** For the bucket. */
  readonly waitedMs: number;
}

/** Statistics of an operation since the start. */
export interface OperationStatus {
  readonly operation: string;
  /** Attempts. */
  readonly requests: number;
  /** Failed attempts; cancelled ones are in neither number. */
  readonly failures: number;
  readonly retries: number;
  readonly rateLimited: number;
  readonly waitedMs: number;
  /**
   * Of the last attempt: HTTP status (0 without response), class and message (undefined after
   * success).
   */
  readonly lastStatus: number;
  readonly lastClass: FailureClass | undefined;
  readonly lastMessage: string | undefined;
  /** Wall times in milliseconds. */
  readonly lastSuccessAtMs: number | undefined;
  readonly lastFailureAtMs: number | undefined;
  /** Durations of the last 60 attempts, oldest first. */
  readonly recentMs: readonly number[];
}

/** Calls one origin. Errors are StewardErrors; `failureOf` gives their class, status and body. */
export interface Client {
  /**
   * Sends one request and reads the whole response. Rejects with the signal's reason as soon as it
   * fires.
   */
  call(request: CallRequest, signal: AbortSignal): Promise<Reply>;
  /**
   * Elements of all pages in batches, as they arrive; neither a page nor the list is ever held
   * completely.
   */
  items(request: ListRequest, signal: AbortSignal): AsyncIterable<unknown[]>;
  /**
   * Sends one request and resolves with its headers. The body must be read or dropped. The attempt's
   * time limit does not count the time that the reader takes.
   */
  stream(request: Omit<CallRequest, "read">, signal: AbortSignal): Promise<StreamedReply>;
  status(): readonly OperationStatus[];
  /** How far the upstream's clock is ahead of ours, from Date headers; 0 before the first one. */
  skewMs(): number;
  /** Aborts running calls and closes the connections. */
  close(): Promise<void>;
}
