/** What a client of a foreign HTTP API is made of and what it promises. Only interfaces. */
import type { Secret } from "../base/secret.ts";
import type { JsonBudget, JsonPath } from "../json/budget.ts";
import type { Failure, FailureClass } from "./failure.ts";

/** Gives the value of the Authorization header, scheme included. */
export interface Authorizer {
  /** Undefined: the header is left out. Rejects when no credential is available. */
  authorization(signal: AbortSignal): Promise<Secret | undefined>;
  /**
   * Told that the upstream answered 401 to this value. True when asking again may give another one.
   */
  refused(value: Secret): boolean;
}

/** Bounds of every call. */
export interface ClientLimits {
  /** Connecting, TLS included. */
  readonly connectMs: number;
  /** One attempt: credential, connecting, headers and body; waiting for the bucket is not in it. */
  readonly attemptMs: number;
  /**
   * The whole call: attempts, waits between them, waiting for the bucket. For a list: each page.
   */
  readonly callMs: number;
  /** A body as it comes over the wire. */
  readonly wireBytes: number;
  /** A body after decompression. */
  readonly bodyBytes: number;
  /**
   * How `bodyBytes` is configured, e.g. `headscale.max_response_bytes`: said when an answer is too
   * large.
   */
  readonly bodyKey?: string;
  /** Depth, strings and elements of JSON bodies; its `bytes` counts after decompression too. */
  readonly json: JsonBudget;
  /** The event loop gets its turn after so much reading. */
  readonly sliceMs: number;
  /** Connections to the upstream. */
  readonly connections: number;
  /** Calls at once, the waiting ones included; beyond it a call is refused with `exhausted`. */
  readonly inFlight: number;
  /** What is read of an answer that is no success, 16 KiB unless said otherwise. */
  readonly errorBytes?: number;
}

/**
 * When a failed attempt is repeated. Only what is idempotent, or never left this process, ever is.
 */
export interface RetryRule {
  /** Attempts after the first one; with a shared budget at most 3. */
  readonly retries: number;
  /** First wait, doubled each time; half of it is random. */
  readonly baseDelayMs: number;
  /** Longest wait, that of a Retry-After included. */
  readonly maxDelayMs: number;
  /**
   * `shared` (default): all calls together repeat at most a fifth of themselves. `none`: each call
   * has its attempts for itself, for a client whose callers ask seldom and one after another.
   */
  readonly budget?: "shared" | "none";
}

/** When an upstream that fails and fails is left alone for a while. */
export interface BreakerRule {
  /** Failed attempts in a row, over all operations. */
  readonly failures: number;
  /** After it a single call is let through; its outcome decides. */
  readonly coolMs: number;
}

/**
 * How the two sides of TLS know one another, where that is not left to public authorities and
 * credentials.
 */
export interface TrustRule {
  /**
   * Certificates of authorities that the upstream's must be signed by instead of a public one, PEM.
   */
  readonly ca?: string;
  /** What is shown to the upstream, PEM. */
  readonly pair?: { readonly cert: string; readonly key: string };
  /** True takes any certificate, whoever it names. */
  readonly insecureSkipVerify?: boolean;
}

/** A rate that several clients may share. */
export interface TokenBucket {
  /**
   * Resolves with the time waited, in milliseconds. Rejects with the signal's reason, or
   * `exhausted` when too many wait.
   */
  take(signal: AbortSignal): Promise<number>;
}

/** A client to be. */
export interface ClientSpec {
  /** As it appears in messages, e.g. `headscale`. */
  readonly name: string;
  /** Scheme, host and optional path prefix; no user, no query. */
  readonly base: URL;
  readonly auth: Authorizer;
  readonly limits: ClientLimits;
  readonly retry: RetryRule;
  readonly bucket?: TokenBucket;
  /**
   * Default: 10 failures, 10 s. `none`: an operation that fails and fails keeps no other from being
   * asked.
   */
  readonly breaker?: BreakerRule | "none";
  /**
   * `same-origin`: at most 10, and only for GET and HEAD, or for 307 and 308 of what is idempotent.
   */
  readonly redirects: "same-origin" | "none";
  readonly trust?: TrustRule;
  /** Told of each attempt when it is over; must not throw. */
  readonly observe?: (report: AttemptReport) => void;
  /** Told of each call, and of each page of a list, when it is over; must not throw. */
  readonly observeCall?: (report: CallReport) => void;
}

/** Makes clients. Throws `invalid` for a base that cannot be one. */
export interface ClientFactory {
  create(spec: ClientSpec): Client;
}

/** Query parameters; undefined ones are left out, lists are repeated. */
export type Query = Readonly<
  Record<string, string | number | boolean | readonly (string | number)[] | undefined>
>;

/** What is sent. Whole, so that it can be sent again. */
export interface Body {
  readonly type: string;
  readonly bytes: string | Uint8Array;
}

/** One call. */
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
  /**
   * Media types of an acceptable answer. Default: `application/json` for `json`, anything for
   * `bytes`.
   */
  readonly accept?: string;
  /**
   * `json` (default): the body is checked and parsed within the budget; an empty one gives
   * undefined.
   */
  readonly read?: "json" | "bytes";
  /** Whether sending it twice has the effect of sending it once. */
  readonly idempotent: boolean;
  /**
   * True for a failure that is the upstream's settled answer, so that repeating the call would only
   * get it again.
   */
  readonly settled?: (failure: Failure) => boolean;
}

/** Headers of an answer, names in lower case, repeated ones joined by a comma. */
export type ReplyHeaders = Readonly<Record<string, string>>;

/** An answer with a status from 200 to 299. */
export interface Reply {
  readonly status: number;
  readonly headers: ReplyHeaders;
  /** The body after decompression. */
  readonly body: Uint8Array;
  /** The parsed body when `json` was to be read. */
  readonly value: unknown;
  readonly attempts: number;
  /** Of the last attempt, without waiting for the bucket. */
  readonly durationMs: number;
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
 * Where the next page is: other parameters on the same path, or a link, which must be of the same
 * origin.
 */
export type NextPage = { readonly query: Query } | { readonly link: string };

/** A list, read page by page with GET. */
export interface ListRequest {
  readonly operation: string;
  readonly path: string;
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string>>;
  readonly accept?: string;
  /** Where the list is in a page. */
  readonly at: "concatenated" | JsonPath;
  /**
   * What counts as an empty list beside one: `null` in its place, or also a page without it.
   * Default: nothing does.
   */
  readonly missing?: "refuse" | "null" | "empty";
  /** Undefined after the last page. Without it there is one page. */
  readonly next?: (page: Page) => NextPage | undefined;
  /** More pages are an error, never a short list. */
  readonly maxPages: number;
}

/** One attempt, when it is over. */
export interface AttemptReport {
  readonly operation: string;
  /** 0 when no answer came. */
  readonly status: number;
  /** Undefined when it went well. */
  readonly class: FailureClass | undefined;
  /**
   * From the first byte of work to the last of the body; without waiting for the bucket or for who
   * reads a list.
   */
  readonly durationMs: number;
  /** For the bucket. */
  readonly waitedMs: number;
  /** Counted from 1. */
  readonly attempt: number;
}

/** A call with all its attempts, or a page of a list, when it is over. */
export interface CallReport {
  readonly operation: string;
  /** Of the last attempt; 0 when no answer came. */
  readonly status: number;
  /** Undefined when it went well. */
  readonly class: FailureClass | undefined;
  /** 0 when it was not even tried. */
  readonly attempts: number;
  /**
   * The attempts and the waits between them; without waiting for the bucket or for who reads a
   * list.
   */
  readonly durationMs: number;
  /** For the bucket. */
  readonly waitedMs: number;
}

/** How an operation has been doing since the start. */
export interface OperationStatus {
  readonly operation: string;
  /** Attempts. */
  readonly requests: number;
  /** Attempts that failed; cancelled ones are in neither number. */
  readonly failures: number;
  readonly retries: number;
  readonly rateLimited: number;
  readonly waitedMs: number;
  /**
   * Of the last attempt: HTTP status (0 without answer), class and message (undefined after
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

/**
 * Talks to one origin. Errors are StewardErrors; `failureOf` tells their class, status and body.
 */
export interface Client {
  /**
   * Sends one request and reads the answer whole. Rejects with the signal's reason as soon as it
   * fires.
   */
  call(request: CallRequest, signal: AbortSignal): Promise<Reply>;
  /**
   * Elements of all pages in batches, as they arrive; neither a page nor the list is ever held
   * whole.
   */
  items(request: ListRequest, signal: AbortSignal): AsyncIterable<unknown[]>;
  status(): readonly OperationStatus[];
  /** How far the upstream's clock is ahead of ours, from Date headers; 0 before the first one. */
  skewMs(): number;
  /** Cuts what runs and gives back the connections. */
  close(): Promise<void>;
}
