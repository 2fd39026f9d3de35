/**
 * What a service hands to the house: its rpc handlers, its plain routes and its parts. The gateway serves them; neither
 * imports the other.
 */
import type { DescMessage, DescMethod, DescService, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { GenService, GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import type { Access } from "../gen/steward/options/v1/options_pb.ts";

/** What a handler knows about the call it serves. */
export interface Call {
  /** Fires when the client goes away, the deadline passes or the process stops. */
  readonly signal: AbortSignal;
  readonly requestId: string;
}

/** Answers one request. Throws StewardError. */
export type UnaryHandler<I extends DescMessage, O extends DescMessage> = (request: MessageShape<I>, call: Call) => Promise<MessageInitShape<O>> | MessageInitShape<O>;

/** Answers one request with a stream; ends when the iterable does. */
export type StreamHandler<I extends DescMessage, O extends DescMessage> = (request: MessageShape<I>, call: Call) => AsyncIterable<MessageInitShape<O>>;

/** The handlers of a service, typed by its descriptor. */
export type Handlers<M extends GenServiceMethods> = {
  [K in keyof M]: M[K]["methodKind"] extends "server_streaming" ? StreamHandler<M[K]["input"], M[K]["output"]> : UnaryHandler<M[K]["input"], M[K]["output"]>;
};

/** A service's descriptor with its handlers. */
export interface BoundService {
  readonly desc: DescService;
  handler(method: DescMethod): UnaryHandler<DescMessage, DescMessage> | StreamHandler<DescMessage, DescMessage>;
}

/** Ties handlers to the descriptor whose methods they answer; a missing one does not compile. */
export function bindService<M extends GenServiceMethods>(desc: GenService<M>, handlers: Handlers<M>): BoundService {
  const table = handlers as unknown as Record<string, UnaryHandler<DescMessage, DescMessage>>;
  return { desc, handler: (method) => table[method.localName] as UnaryHandler<DescMessage, DescMessage> };
}

/** A request to a plain route. */
export interface PlainRequest {
  readonly method: string;
  readonly path: string;
  /** Path variables, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The answer of a plain route. An iterable body is streamed with back-pressure. */
export interface PlainAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | AsyncIterable<string | Uint8Array>;
}

/** A route whose answer is no message: event streams, text, pages, binary. */
export interface PlainRoute {
  readonly verb: "GET" | "POST" | "PUT" | "DELETE";
  /** As in google.api.http: `/api/v1/jobs/{job_id}/progress`. */
  readonly template: string;
  readonly access: Access;
  /** Whose error bodies it answers with. */
  readonly dialect: "monitor" | "dedup" | "vault";
  handle(request: PlainRequest, call: Call): Promise<PlainAnswer>;
}

/** A service as the house sees it. */
export interface Service {
  readonly name: string;
  readonly rpc: readonly BoundService[];
  readonly plain: readonly PlainRoute[];
}
