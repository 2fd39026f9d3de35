/**
 * Serves Connect, gRPC-Web and gRPC with the services' handlers: authorization before the body is
 * read, validation, deadlines, errors, and cancellation of streams.
 */
import type {
  DescMessage,
  DescMethod,
  DescMethodBiDiStreaming,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import {
  Code as RpcCode,
  ConnectError,
  createConnectRouter,
  createContextKey,
  createContextValues,
  type ConnectRouter,
  type HandlerContext,
  type MethodImpl,
} from "@connectrpc/connect";
import { errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { universalResponseToNodeResponse } from "@connectrpc/connect-node";
import { StewardError } from "../src/kernel/base/errors.ts";
import type { Log } from "../src/kernel/base/log.ts";
import {
  closeUnlessBodyIsShort,
  cut,
  discardBody,
  type ServerRequest,
  type ServerResponse,
} from "../src/kernel/listen/exchange.ts";
import type { Admitted } from "../src/kernel/listen/handler.ts";
import {
  createCall,
  type BoundService,
  type Call,
  type StreamHandler,
  type UnaryHandler,
} from "../src/kernel/service.ts";
import { invalidRequest } from "../src/kernel/wire/issues.ts";
import { checkRules } from "../src/kernel/wire/validate.ts";
import type { Authorize } from "./access/authorize.ts";
import { OPERATOR_CHALLENGES } from "./access/challenges.ts";
import { errorText, isInternal, retryAfterSeconds, rpcCode, seenError } from "./codes.ts";
import type { Head } from "./node-http.ts";
import { rpcError } from "./rpc-errors.ts";
import { countedMessages, packings } from "./rpc-messages.ts";
import { encodeGrpcMessage, rpcRequest, withReadableMessage } from "./rpc-exchange.ts";
import { ruleOf, type MethodRule } from "./rpc-rules.ts";
import { asBadInput, withKnownFields } from "./decode-errors.ts";
import { untilAborted } from "./until-aborted.ts";
import { orAborted } from "../src/kernel/async/wait.ts";

/** A bidirectional stream that answers each message with one. */
export interface Conversation {
  readonly method: DescMethodBiDiStreaming;
  readonly reply: (request: MessageShape<DescMessage>) => MessageInitShape<DescMessage>;
}

/** Binds a reply function to its method. */
export function bindConversation<I extends DescMessage, O extends DescMessage>(
  method: DescMethodBiDiStreaming<I, O>,
  reply: (request: MessageShape<I>) => MessageInitShape<O>,
): Conversation {
  return { method, reply: (request) => reply(request as MessageShape<I>) };
}

export interface RpcDeps {
  readonly services: readonly BoundService[];
  readonly conversations: readonly Conversation[];
  readonly authorize: Authorize;
  readonly log: Log;
  /**
   * Fires when the process begins to stop: streams end with `UNAVAILABLE`, unary responses may
   * still be sent.
   */
  readonly draining: AbortSignal;
  /** Called with the code of each failed rpc, which some protocols show in the body only. */
  readonly failed?: (response: ServerResponse, code: RpcCode) => void;
}

/** Context of a request beside its head. */
interface RpcFacts {
  readonly requestId: string;
  readonly admitted: Pick<Admitted, "body" | "expired">;
}

/** Rpc over HTTP/1.1 and HTTP/2. */
export interface Rpc {
  /** Paths of all methods. */
  readonly paths: ReadonlySet<string>;
  /** Whether a path belongs to rpc, known or not: `/steward.*` and `/grpc.*`. */
  owns(path: string): boolean;
  /** Answers one request. Never rejects; resolves when the response is complete. */
  handle(
    request: ServerRequest,
    response: ServerResponse,
    head: Head,
    facts: RpcFacts,
  ): Promise<void>;
  /** Answers a request for one of those paths that was not admitted. */
  refuse(request: ServerRequest, response: ServerResponse, error: StewardError): void;
}

const MESSAGE_BYTES = 4 * 1024 * 1024;
const headKey = createContextKey<
  (RpcFacts & { readonly head: Head; readonly response: ServerResponse }) | undefined
>(undefined);

/** Throws when a method declares no access. */
export function createRpc(deps: RpcDeps): Rpc {
  const methods = new Map(
    [
      ...deps.services.flatMap(({ desc }) => desc.methods),
      ...deps.conversations.map(({ method }) => method),
    ].map((method) => [method, ruleOf(method)]),
  );
  const router = createConnectRouter({
    acceptCompression: [...packings],
    jsonOptions: { ignoreUnknownFields: false },
    readMaxBytes: MESSAGE_BYTES,
    requestGate: (context) => admit(deps, methods.get(context.method), context),
  });
  for (const service of deps.services)
    for (const method of service.desc.methods) bindMethod(router, deps, service, method);
  for (const conversation of deps.conversations) bindTalk(router, deps, conversation);
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return {
    paths: new Set(handlers.keys()),
    owns: (path) => /^\/(steward|grpc)\.[^/]*\//.test(path),
    refuse: (request, response, error) =>
      answerError(
        request,
        response,
        new ConnectError(errorText(error), rpcCode(error, "monitor"), retryAfter(error)),
      ),
    async handle(request, response, head, facts) {
      const handler = handlers.get(head.path);
      if (handler === undefined) return answerUnknownMethod(request, response, head.path);
      const values = createContextValues().set(headKey, { head, response, ...facts });
      const over = new Promise<void>((resolve) => response.once("close", resolve));
      const answered = handler(
        countedMessages(
          rpcRequest(request, response, { head, body: facts.admitted.body, contextValues: values }),
          handler.method.input,
          MESSAGE_BYTES,
        ),
      )
        .then((answer) => {
          closeUnlessBodyIsShort(request, response);
          splitChallenges(answer, response);
          return universalResponseToNodeResponse(withReadableMessage(answer), response);
        })
        .catch((error: unknown) => {
          deps.log.debug("an rpc was interrupted", { error, request_id: facts.requestId });
          if (!response.writableEnded) cut(request);
        });
      // The library's promise may stay pending after success.
      await Promise.race([answered, over]);
    },
  };
}

/** The library would join the challenges into one header line. */
function splitChallenges({ header }: UniversalServerResponse, response: ServerResponse): void {
  if (header?.has("www-authenticate") !== true) return;
  header.delete("www-authenticate");
  response.setHeader("www-authenticate", OPERATOR_CHALLENGES);
}

function admit(deps: RpcDeps, rule: MethodRule | undefined, context: HandlerContext): void {
  const known = context.values.get(headKey);
  const refusal =
    rule === undefined || known === undefined
      ? new StewardError("internal", "an rpc without an access rule was called")
      : (deps.authorize(rule.access, rule.dialect, known.head) ?? refusalOf(deps, context.method));
  if (refusal !== undefined) throw seen(deps, context, refusal);
  // The library parses the message between here and the handler, and ends the context with the
  // error before it reports it to the client.
  context.signal.addEventListener(
    "abort",
    () => explain(context.signal.reason, context.method.input),
    { once: true },
  );
}

function refusalOf({ services }: RpcDeps, { parent }: DescMethod): StewardError | undefined {
  return services.find(({ desc }) => desc === parent)?.refusal;
}

/** Errors from handlers and access control; these are not parse errors, whatever their text. */
const judgements = new WeakSet<ConnectError>();

/** Rewrites the library's error about an unreadable message. */
function explain(error: unknown, input: DescMessage): void {
  if (!(error instanceof ConnectError) || judgements.has(error)) return;
  asBadInput(error, input);
  withKnownFields(error, input);
}

function bindMethod(
  router: ConnectRouter,
  deps: RpcDeps,
  service: BoundService,
  method: DescMethod,
): void {
  const handler = service.handler(method);
  const implementation =
    method.methodKind === "server_streaming"
      ? (message: MessageShape<DescMessage>, context: HandlerContext) =>
          stream(deps, handler as StreamHandler<DescMessage, DescMessage>, message, context)
      : (message: MessageShape<DescMessage>, context: HandlerContext) =>
          unary(deps, handler as UnaryHandler<DescMessage, DescMessage>, message, context);
  router.rpc(method, implementation as unknown as MethodImpl<DescMethod>);
}

async function unary(
  deps: RpcDeps,
  handler: UnaryHandler<DescMessage, DescMessage>,
  message: MessageShape<DescMessage>,
  context: HandlerContext,
): Promise<MessageInitShape<DescMessage>> {
  try {
    check(context.method, message);
    return await orAborted(
      Promise.resolve(handler(message, callOf(context, context.signal))),
      context.signal,
    );
  } catch (thrown) {
    throw seen(deps, context, thrown);
  }
}

async function* stream(
  deps: RpcDeps,
  handler: StreamHandler<DescMessage, DescMessage>,
  message: MessageShape<DescMessage>,
  context: HandlerContext,
): AsyncGenerator<MessageInitShape<DescMessage>> {
  const signal = AbortSignal.any([context.signal, ...endsOf(deps, context)]);
  try {
    check(context.method, message);
    yield* untilAborted(handler(message, callOf(context, signal)), signal);
  } catch (thrown) {
    throw seen(deps, context, thrown);
  }
}

function bindTalk(router: ConnectRouter, deps: RpcDeps, { method, reply }: Conversation): void {
  const talk = async function* (
    messages: AsyncIterable<MessageShape<DescMessage>>,
    context: HandlerContext,
  ): AsyncGenerator<MessageInitShape<DescMessage>> {
    try {
      for await (const message of untilAborted(
        messages,
        AbortSignal.any([context.signal, ...endsOf(deps, context)]),
      )) {
        context.values.get(headKey)?.admitted.body.giveBack();
        yield reply(message);
      }
    } catch (thrown) {
      // Here messages are parsed while the handler runs.
      explain(thrown, context.method.input);
      throw seen(deps, context, thrown);
    }
  };
  router.rpc(method, talk);
}

/** Signals that end a stream early. */
function endsOf(deps: RpcDeps, context: HandlerContext): readonly AbortSignal[] {
  const expired = context.values.get(headKey)?.admitted.expired;
  return expired === undefined ? [deps.draining] : [deps.draining, expired];
}

function check(method: DescMethod, message: MessageShape<DescMessage>): void {
  const found = checkRules(method.input, message);
  if (found.length > 0) throw invalidRequest(found);
}

function callOf(context: HandlerContext, signal: AbortSignal): Call {
  const known = context.values.get(headKey);
  return createCall({
    signal: asConnectAbort(signal),
    requestId: requestIdOf(context),
    ...(known === undefined ? {} : { remote: known.head.remote, headers: known.head.headers }),
  });
}

/** Fires with the other signal, with a StewardError as reason instead of the library's error. */
function asConnectAbort(signal: AbortSignal): AbortSignal {
  const own = new AbortController();
  const fire = (): void => own.abort(ownReason(signal.reason));
  if (signal.aborted) fire();
  else signal.addEventListener("abort", fire, { once: true });
  return own.signal;
}

function ownReason(reason: unknown): unknown {
  if (!(reason instanceof ConnectError)) return reason;
  if (reason.code !== RpcCode.DeadlineExceeded)
    return new StewardError("cancelled", "the client closed the connection", { cause: reason });
  return new StewardError("deadline", "the client's deadline for the call has passed", {
    cause: reason,
  });
}

function requestIdOf(context: HandlerContext): string {
  return context.values.get(headKey)?.requestId ?? "";
}

function seen(deps: RpcDeps, context: HandlerContext, thrown: unknown): ConnectError {
  const error = judged(deps, context, thrown);
  judgements.add(error);
  const response = context.values.get(headKey)?.response;
  if (response !== undefined) deps.failed?.(response, error.code);
  return error;
}

function judged(deps: RpcDeps, context: HandlerContext, thrown: unknown): ConnectError {
  if (thrown instanceof ConnectError) return thrown;
  // The deadline or disconnection is more specific than what the handler threw because of it.
  const ended: unknown = context.signal.aborted ? context.signal.reason : undefined;
  if (ended instanceof ConnectError) return ended;
  const requestId = requestIdOf(context);
  const error =
    deps.draining.aborted && thrown === deps.draining.reason
      ? new StewardError("not_ready", "Steward is stopping")
      : seenError(ended instanceof StewardError ? ended : thrown, requestId);
  if (isInternal(error))
    deps.log.error("an rpc failed", {
      error: thrown,
      request_id: requestId,
      method: `${context.service.typeName}/${context.method.name}`,
    });
  return rpcError(error, ruleOf(context.method).dialect, context.method.input);
}

// For unknown methods the library sends a bare 404, which only Connect clients understand.
function answerUnknownMethod(request: ServerRequest, response: ServerResponse, path: string): void {
  discardBody(request);
  answerError(
    request,
    response,
    new ConnectError(`there is no method ${path.slice(0, 200)}`, RpcCode.Unimplemented),
  );
}

/** A response that is only an error, in the protocol of the request. */
function answerError(request: ServerRequest, response: ServerResponse, error: ConnectError): void {
  const type = request.headers["content-type"] ?? "";
  error.metadata.forEach((value, name) => response.setHeader(name, value));
  closeUnlessBodyIsShort(request, response);
  if (/^application\/grpc(-web|-web-text)?(\+|;|$)/.test(type)) {
    // Set and not written: the status counts as trailers only when the head itself ends the stream.
    response.setHeader("content-type", type);
    for (const [name, value] of setTrailerStatus(new Headers(), error))
      response.setHeader(
        name,
        name === "grpc-message" ? encodeGrpcMessage(error.rawMessage) : value,
      );
    response.end();
  } else {
    response.writeHead(error.code === RpcCode.Unimplemented ? 404 : 429, {
      "content-type": "application/json",
    });
    response.end(errorToJsonBytes(error, undefined));
  }
}

function retryAfter(error: StewardError): Record<string, string> {
  const seconds = retryAfterSeconds(error);
  return seconds === undefined ? {} : { "retry-after": String(seconds) };
}
