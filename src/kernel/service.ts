/**
 * Interface of a service: its rpc handlers, its plain routes and its components. The gateway serves
 * them; neither imports the other.
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

/** The peer of a request's connection: the client, or the last proxy before it. */
export interface Remote {
  /** IPv4 or IPv6 as text; empty when unknown. */
  readonly address: string;
  readonly port: number;
}

/** Headers of a request, or the metadata of an rpc. Names are in lower case. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Context of a call. */
export interface Call {
  /**
   * Fires when the client disconnects, the process stops or, with the code `deadline`, the call's
   * time has passed.
   */
  readonly signal: AbortSignal;
  readonly requestId: string;
  readonly remote: Remote;
  readonly headers: RequestHeaders;
  /** A header by its name in any case; repeated ones are joined by a comma. */
  header(name: string): string | undefined;
}

/** Creates a call; by default without headers and with an unknown peer. */
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
 * REST JSON as chunks of immutable shared memory: megabytes go from the thread that wrote them to
 * the socket, and into the next document, without a copy. Without `encoding` they are not
 * compressed.
 */
export interface WrittenJson {
  /** Compressed by the writer, for a client that accepts it (`acceptsGzip`). */
  readonly encoding: "gzip" | undefined;
  /**
   * Replace the default status and headers, e.g. of a conditional response (RFC 9110 §13); names in
   * lower case.
   */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly pieces: readonly Uint8Array<SharedArrayBuffer>[];
}

/**
 * Answers one request with its REST JSON as UTF-8, written where the service runs
 * (`writeRestJson`). The caller owns the bytes and may move them to another thread. Throws
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
   * Whether the headers carry a valid credential of the service's own kind, for methods that check
   * credentials themselves. Selects the share of the listener's capacity a request may use before
   * its body is read, never what it may do. Answers from memory and never throws; absent means no.
   */
  hasCredential?(headers: RequestHeaders): boolean;
  /**
   * Why every method is refused: answered after authorization, before a request is read. Undefined
   * where requests are served.
   */
  readonly refusal?: StewardError | undefined;
  /**
   * For REST, instead of the handler of a unary method, so that the gateway's thread need not
   * serialise the response. Where absent, the gateway does.
   */
  json?(method: DescMethod): JsonHandler | undefined;
}

/**
 * Binds handlers to the descriptor whose methods they implement; a missing one does not compile.
 */
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

export interface PlainRequest {
  readonly method: string;
  readonly path: string;
  /** Path and query as sent, not decoded. */
  readonly target: string;
  /** Path variables, decoded; those of a prefix route as sent. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: RequestHeaders;
  readonly remote: Remote;
  /** Whether TLS terminates here. */
  readonly secured: boolean;
  /**
   * The whole body as sent. Call at most once. Throws `too_large` above `limitBytes` or the route's
   * limit, whichever is less, `cancelled` when it does not arrive within the listener's time.
   */
  body(limitBytes?: number): Promise<Uint8Array>;
}

/** The error for a body above its limit. */
export function bodyTooLarge(limitBytes: number): StewardError {
  return new StewardError(
    "too_large",
    `the body is larger than ${limitBytes} bytes; send less at a time`,
    { rule: "body_bytes", remedy: "send less at a time" },
  );
}

/**
 * The response of a plain route. An iterable body is streamed with backpressure; with status 204 or
 * 304 it is omitted.
 */
export interface PlainAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | AsyncIterable<string | Uint8Array>;
  /** Called when the whole answer was handed to the system; never when the client has left before. */
  readonly sent?: () => void;
}

interface PlainLimits {
  /** Maximum body size; default: the dialect's. */
  readonly bodyBytes?: number;
  /**
   * From the headers to the response; then the call's signal fires and the client gets a deadline
   * error. Unlimited by default.
   */
  readonly requestMs?: number;
}

/** A plain route in the API description. */
interface RouteDescription {
  /** Unique among all operations. Clients are generated from it, so it must not change. */
  readonly operationId: string;
  /** The tag it is listed under, e.g. `JobService`. */
  readonly tag: string;
  /** Sentences; the first is the summary. */
  readonly text: string;
  /** Content and media type of a successful response. */
  readonly answer: string;
  readonly contentType: string;
  /**
   * The meaning of each path variable by its name in lowerCamelCase, in the order of the template.
   */
  readonly variables?: Readonly<Record<string, string>>;
  /** Statuses that are answered with one line of plain text, and when. */
  readonly others?: Readonly<Record<number, string>>;
  /** The meaning of each query parameter. */
  readonly query?: Readonly<Record<string, string>>;
}

/** A route whose response is not a message: event streams, text, pages, binary. */
export interface PlainRoute {
  /** `*` matches every method, including HEAD, OPTIONS and uncommon ones. */
  readonly verb: "GET" | "POST" | "PUT" | "DELETE" | "*";
  /**
   * As in google.api.http: `/api/v1/jobs/{job_id}/progress`. A template of literals and a final
   * `{name=**}` with the verb `*`, like `/v1/{rest=**}`, owns its prefix: http rules of methods
   * below it are documentation only.
   */
  readonly template: string;
  readonly access: Access;
  /** The dialect of its error bodies. */
  readonly dialect: "monitor" | "dedup" | "vault";
  readonly limits?: PlainLimits;
  /** Absent from the API description if undefined, as pages are. */
  readonly describe?: RouteDescription;
  /**
   * The response lasts until one side ends it, like an event stream: the listener counts it apart
   * from requests and limits its age.
   */
  readonly longLived?: boolean;
  /** As `BoundService.hasCredential`, for a route that checks credentials itself. */
  hasCredential?(headers: RequestHeaders): boolean;
  /** Origins of pages that may change something here, evaluated per request; none if absent. */
  allowedOrigins?(): readonly string[];
  /**
   * Headers of a failed or refused response, e.g. those that let an allowed page read the reason.
   */
  failureHeaders?(headers: RequestHeaders): Readonly<Record<string, string>>;
  handle(request: PlainRequest, call: Call): Promise<PlainAnswer>;
}

/** What the process needs to run a service. */
export interface Service {
  readonly name: string;
  readonly rpc: readonly BoundService[];
  readonly plain: readonly PlainRoute[];
}
