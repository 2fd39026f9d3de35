/** gRPC servers and clients from descriptors: a service is an object with a function per method. */
import {
  create,
  fromBinary,
  toBinary,
  type DescMessage,
  type DescMethodServerStreaming,
  type DescMethodBiDiStreaming,
  type DescMethodUnary,
  type DescService,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import {
  type Client,
  type Metadata,
  type Server,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceError,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import { toStewardError } from "../../kernel/base/errors.ts";

/**
 * Bytes of one message from the host. A request's data is the JSON of a body of at most 32 MiB,
 * Vault's default `max_request_size`, and Go writes some characters as six; a stored answer, which
 * a revocation brings back, has at most 8 MiB.
 */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Both directions of both connections. What is sent is bounded where it is made. */
export const messageLimits = {
  "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
  "grpc.max_send_message_length": -1,
} as const;

/** The host's call. */
export interface CallContext {
  readonly metadata: Metadata;
  /** Fires when the host gives the call up. */
  readonly signal: AbortSignal;
}

type Handler<M> = M extends DescMethodUnary
  ? (request: MessageShape<M["input"]>, call: CallContext) => Promise<MessageInitShape<M["output"]>>
  : M extends DescMethodBiDiStreaming
    ? (stream: ServerDuplexStream<MessageShape<M["input"]>, MessageShape<M["output"]>>) => void
    : M extends DescMethodServerStreaming
      ? (stream: ServerWritableStream<MessageShape<M["input"]>, MessageShape<M["output"]>>) => void
      : never;

/** A function for each method; a method without one answers `UNIMPLEMENTED`. */
type Implementation<S extends DescService> = {
  readonly [K in keyof S["method"]]?: Handler<S["method"][K]>;
};

/** Adds a service. What a unary method throws becomes a status; its message is shown to the host. */
export function addService<S extends DescService>(
  server: Server,
  service: S,
  implementation: Implementation<S>,
): void {
  const handlers = implementation as Readonly<Record<string, unknown>>;
  for (const method of service.methods) {
    const handler = handlers[method.localName];
    if (handler === undefined) continue;
    server.register(
      pathOf(method),
      (method.methodKind === "unary"
        ? unary(handler as UnaryHandler, method.output)
        : handler) as never,
      (message: MessageShape<DescMessage>) => encode(method.output, message),
      (bytes: Buffer) => decode(method.input, bytes),
      KINDS[method.methodKind],
    );
  }
}

const KINDS = {
  unary: "unary",
  server_streaming: "serverStream",
  client_streaming: "clientStream",
  bidi_streaming: "bidi",
} as const;

type Message = MessageShape<DescMessage>;
type UnaryHandler = (request: Message, call: CallContext) => Promise<Record<string, unknown>>;

function unary(handler: UnaryHandler, output: DescMessage) {
  return (call: ServerUnaryCall<Message, Message>, answer: sendUnaryData<Message>): void => {
    const given = new AbortController();
    let settled = false;
    // Also emitted when an answered call ends.
    call.on("cancelled", () => {
      if (!settled) given.abort();
    });
    const settle: typeof answer = (error, reply) => {
      settled = true;
      answer(error, reply);
    };
    // A handler may also throw before its promise is there.
    const replied = async () =>
      await handler(call.request, { metadata: call.metadata, signal: given.signal });
    replied().then(
      (reply) => settle(null, create(output, reply)),
      (thrown: unknown) => settle(statusOf(thrown)),
    );
  };
}

function statusOf(thrown: unknown): Partial<ServiceError> {
  const error = toStewardError(thrown);
  const code =
    error.code === "invalid"
      ? status.INVALID_ARGUMENT
      : error.code === "not_found"
        ? status.NOT_FOUND
        : error.code === "exhausted"
          ? status.RESOURCE_EXHAUSTED
          : status.INTERNAL;
  return { code, details: error.message };
}

/** The error of a call has the code that gRPC gave it. */
export function callUnary<M extends DescMethodUnary>(
  client: Client,
  method: M,
  request: MessageInitShape<M["input"]>,
  { deadlineMs }: { readonly deadlineMs: number },
): Promise<MessageShape<M["output"]>> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      pathOf(method),
      (message: MessageShape<M["input"]>) => encode(method.input, message),
      (bytes: Buffer) => decode(method.output, bytes) as MessageShape<M["output"]>,
      create(method.input, request) as MessageShape<M["input"]>,
      { deadline: deadlineMs },
      (error, reply) => {
        if (error !== null) reject(error);
        else if (reply !== undefined) resolve(reply);
      },
    );
  });
}

function pathOf(method: { readonly parent: DescService; readonly name: string }): string {
  return `/${method.parent.typeName}/${method.name}`;
}

function encode(schema: DescMessage, message: Message): Buffer {
  const { buffer, byteOffset, byteLength } = toBinary(schema, message);
  return Buffer.from(buffer, byteOffset, byteLength);
}

// Fields that are not declared are not kept: nothing is sent back.
function decode(schema: DescMessage, bytes: Buffer): Message {
  return fromBinary(schema, bytes, { readUnknownFields: false });
}
