/**
 * What a service hands to the house: its rpc handlers, its plain routes and its parts. The gateway
 * serves them; neither imports the other.
 */
import type {
  DescMessage,
  DescMethod,
  DescService,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { GenService, GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import type { Access } from "../gen/steward/options/v1/options_pb.ts";
import { StewardError } from "./base/errors.ts";

/** The other end of a request's connection: the client, or the last proxy before it. */
export interface Remote {
  /** IPv4 or IPv6 as text; empty when it is not known. */
  readonly address: string;
  readonly port: number;
}

/** Headers of a request, or the metadata of an rpc. Names are in lower case. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** What a handler knows about the call it serves. */
export interface Call {
  /**
   * Fires when the client goes away, the process stops or, with the code `deadline`, when the
   * call's time has passed.
   */
  readonly signal: AbortSignal;
  readonly requestId: string;
  readonly remote: Remote;
  readonly headers: RequestHeaders;
  /** A header by its name in any case; several of one name are joined by a comma. */
  header(name: string): string | undefined;
}

/** A call from its facts; without headers and from nowhere unless they are given. */
export function createCall(
  facts: Pick<Call, "signal" | "requestId"> & Partial<Pick<Call, "remote" | "headers">>,
): Call {
  const { signal, requestId, remote = { address: "", port: 0 }, headers = {} } = facts;
  return {
    signal,
    requestId,
    remote,
    headers,
    header(name) {
      const value = headers[name.toLowerCase()];
      return Array.isArray(value) ? value.join(", ") : value;
    },
  };
}

/** Answers one request. Throws StewardError. */
export type UnaryHandler<I extends DescMessage, O extends DescMessage> = (
  request: MessageShape<I>,
  call: Call,
) => Promise<MessageInitShape<O>> | MessageInitShape<O>;

/** Answers one request with a stream; ends when the iterable does. */
export type StreamHandler<I extends DescMessage, O extends DescMessage> = (
  request: MessageShape<I>,
  call: Call,
) => AsyncIterable<MessageInitShape<O>>;

/** The handlers of a service, typed by its descriptor. */
export type Handlers<M extends GenServiceMethods> = {
  [K in keyof M]: M[K]["methodKind"] extends "server_streaming"
    ? StreamHandler<M[K]["input"], M[K]["output"]>
    : UnaryHandler<M[K]["input"], M[K]["output"]>;
};

/**
 * REST JSON in pieces of shared memory that are not changed any more: megabytes of it go from the
 * thread that wrote it to the socket, and stand in the next document, without a copy. Without an
 * encoding it is as it was written.
 */
export interface WrittenJson {
  /** It was packed where it was written, for a client that takes it so (`acceptsGzip`). */
  readonly encoding: "gzip" | undefined;
  /**
   * Status and headers that take the place of the usual ones, e.g. of a conditional answer (RFC
   * 9110 §13); names in lower case.
   */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly pieces: readonly Uint8Array<SharedArrayBuffer>[];
}

/**
 * Answers one request with its REST JSON as UTF-8, written where the service runs
 * (`writeRestJson`). The bytes are the caller's and may move to another thread. Throws
 * StewardError.
 */
export type JsonHandler = (
  request: MessageShape<DescMessage>,
  call: Call,
) => Promise<Uint8Array | WrittenJson>;

/** A service's descriptor with its handlers. */
export interface BoundService {
  readonly desc: DescService;
  handler(
    method: DescMethod,
  ): UnaryHandler<DescMessage, DescMessage> | StreamHandler<DescMessage, DescMessage>;
  /**
   * Whether the headers carry a live credential of the service's own kind, for methods that check
   * credentials themselves. Decides the share of the listener's capacity that a request may use,
   * before its body is read, and never what it may do. Answers from memory and never throws; none
   * of its requests has one when not given.
   */
  hasCredential?(headers: RequestHeaders): boolean;
  /**
   * For REST, in place of the handler of a method without a stream: the thread that serves others
   * need not write. Where not given it is the gateway that writes.
   */
  json?(method: DescMethod): JsonHandler | undefined;
}

/** Ties handlers to the descriptor whose methods they answer; a missing one does not compile. */
export function bindService<M extends GenServiceMethods>(
  desc: GenService<M>,
  handlers: Handlers<M>,
): BoundService {
  const table = handlers as unknown as Record<string, UnaryHandler<DescMessage, DescMessage>>;
  return {
    desc,
    handler: (method) => table[method.localName] as UnaryHandler<DescMessage, DescMessage>,
  };
}

/** A request to a plain route. */
export interface PlainRequest {
  readonly method: string;
  readonly path: string;
  /** Path and query as they were sent, nothing decoded. */
  readonly target: string;
  /** Path variables, decoded; those of a route for a whole prefix as they were sent. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: RequestHeaders;
  readonly remote: Remote;
  /** Whether it came over TLS that ends here. */
  readonly secured: boolean;
  /**
   * The whole body as it was sent. To be called once at most. Throws `too_large` above `limitBytes`
   * or the route's limit, whichever is less, `cancelled` when it does not come whole within the
   * listener's time.
   */
  body(limitBytes?: number): Promise<Uint8Array>;
}

/** What reading a body throws that is larger than it may be. */
export function bodyTooLarge(limitBytes: number): StewardError {
  return new StewardError(
    "too_large",
    `the body is larger than ${limitBytes} bytes; send less at a time`,
    { rule: "body_bytes", remedy: "send less at a time" },
  );
}

/**
 * The answer of a plain route. An iterable body is streamed with back-pressure; one of status 204
 * or 304 is left out.
 */
export interface PlainAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | AsyncIterable<string | Uint8Array>;
}

/** Bounds of one plain route. */
interface PlainLimits {
  /** The largest body; the dialect's own when not given. */
  readonly bodyBytes?: number;
  /**
   * From the head to the answer; then the call's signal fires and the client reads of the deadline.
   * As long as it takes when not given.
   */
  readonly requestMs?: number;
}

/** How a plain route stands in the description of the API. */
interface RouteDescription {
  /** Unique among all operations. Clients are generated from it, so it stays as it is. */
  readonly operationId: string;
  /** The tag that it is listed under, e.g. `JobService`. */
  readonly tag: string;
  /** Sentences; the first is the summary. */
  readonly text: string;
  /** What a success holds, and its media type. */
  readonly answer: string;
  readonly contentType: string;
  /**
   * The meaning of each path variable by its name in lowerCamelCase, in the order of the template.
   */
  readonly variables?: Readonly<Record<string, string>>;
  /** Statuses that are answered with one line of text instead, and when. */
  readonly others?: Readonly<Record<number, string>>;
  /** The meaning of each query parameter. */
  readonly query?: Readonly<Record<string, string>>;
}

/** A route whose answer is no message: event streams, text, pages, binary. */
export interface PlainRoute {
  /** `*` takes every method, HEAD, OPTIONS and uncommon ones included. */
  readonly verb: "GET" | "POST" | "PUT" | "DELETE" | "*";
  /**
   * As in google.api.http: `/api/v1/jobs/{job_id}/progress`. A template of literals and a last
   * `{name=**}` with the verb `*`, like `/v1/{rest=**}`, owns its prefix: http rules of methods
   * below it describe what it serves and serve nothing.
   */
  readonly template: string;
  readonly access: Access;
  /** Whose error bodies it answers with. */
  readonly dialect: "monitor" | "dedup" | "vault";
  readonly limits?: PlainLimits;
  /** Left out of the description of the API when not given, as pages are. */
  readonly describe?: RouteDescription;
  /**
   * Its answer lasts until somebody ends it, like an event stream: the listener counts it apart
   * from requests and ends it at an age.
   */
  readonly longLived?: boolean;
  /** As `BoundService.hasCredential`, for a route that checks credentials itself. */
  hasCredential?(headers: RequestHeaders): boolean;
  /**
   * Origins of pages that may change something here, asked for at each request; none when not
   * given.
   */
  allowedOrigins?(): readonly string[];
  /**
   * Headers of the answer to a request that failed or was refused, e.g. those that let an allowed
   * page read why; none when not given.
   */
  failureHeaders?(headers: RequestHeaders): Readonly<Record<string, string>>;
  handle(request: PlainRequest, call: Call): Promise<PlainAnswer>;
}

/** A service as the house sees it. */
export interface Service {
  readonly name: string;
  readonly rpc: readonly BoundService[];
  readonly plain: readonly PlainRoute[];
}
