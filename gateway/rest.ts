/**
 * REST over the method table, independent of any HTTP library: match, authorise, bind, validate,
 * invoke, write. Anything thrown becomes an error body of the route's surface.
 */
import { create, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import type { Access } from "../src/gen/steward/options/v1/options_pb.ts";
import type { Clock } from "../src/kernel/base/clock.ts";
import { StewardError } from "../src/kernel/base/errors.ts";
import type { Log } from "../src/kernel/base/log.ts";
import { bytesIn } from "../src/kernel/base/pieces.ts";
import {
  createCall,
  type Call,
  type PlainRequest,
  type PlainRoute,
  type Remote,
  type RequestHeaders,
  type UnaryHandler,
  type WrittenJson,
} from "../src/kernel/service.ts";
import { BAD_REQUEST, invalidRequest } from "../src/kernel/wire/issues.ts";
import { readJsonBody } from "../src/kernel/wire/json-text.ts";
import type { DialectName } from "../src/kernel/wire/style.ts";
import { restMessage, writeRestJson } from "../src/kernel/wire/rest-json.ts";
import { checkRules } from "../src/kernel/wire/validate.ts";
import type { RouteFacts } from "./access/authorize.ts";
import { isInternal, seenError, UNKNOWN_ROUTE } from "./codes.ts";
import { dialectOf, dialectOfPath } from "./dialects/by-name.ts";
import { unknownPathHint } from "./dialects/monitor.ts";
import type { AnswerHeaders, Dialect, FailureOptions } from "./dialects/dialect.ts";
import type { Method, MethodTable, OtherRoute, Route, RpcRoute } from "./methods.ts";
import { within } from "./until-aborted.ts";
import { wantsPage } from "./web/not-found.ts";

export interface RestRequest {
  /** In upper case. */
  readonly method: string;
  /** As sent: not decoded, no query. */
  readonly path: string;
  /** The raw query, with or without its question mark. */
  readonly search: string;
  /** Names in lower case. */
  readonly headers: RequestHeaders;
  readonly remote: Remote;
  /** Whether TLS terminates here. */
  readonly secured: boolean;
  readonly signal: AbortSignal;
  readonly requestId: string;
  /**
   * The whole body. Throws `too_large` above the limit. Called at most once, and not at all when no
   * body is expected.
   */
  readBody(limitBytes: number): Promise<Uint8Array>;
}

/**
 * An array of bytes is sent as a whole, piece by piece; an async iterable is streamed with
 * backpressure.
 */
export interface RestAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: string | Uint8Array | readonly Uint8Array[] | AsyncIterable<string | Uint8Array>;
  /** See `PlainAnswer.sent`. */
  readonly sent?: () => void;
}

/** Returns if the request is allowed, else throws. */
export type Authorize = (
  access: Access,
  dialect: DialectName,
  request: RestRequest,
  route?: RouteFacts,
) => StewardError | undefined;

export interface RestDeps {
  readonly table: MethodTable;
  readonly authorize: Authorize;
  readonly log: Log;
  readonly clock: Clock;
  /**
   * The page for people who open an unknown path; `hint` is what a program reads beside "not
   * found". Without it everybody gets the program's response.
   */
  readonly notFound?: (request: RestRequest, hint: string) => Promise<RestAnswer>;
}

export interface Rest {
  /**
   * Never rejects. The response to HEAD has an empty body and the length of the GET's, or none if
   * that is streamed.
   */
  handle(request: RestRequest): Promise<RestAnswer>;
}

export function createRest(deps: RestDeps): Rest {
  return {
    async handle(request) {
      const answer = await serve(deps, request);
      return request.method === "HEAD" ? withoutBody(answer) : answer;
    },
  };
}

async function serve(deps: RestDeps, request: RestRequest): Promise<RestAnswer> {
  const match = deps.table.match(request.method, request.path);
  if (match.kind === "unknown" && deps.notFound !== undefined && wantsPage(request))
    return await deps.notFound(request, unknownPathHint(request.path));
  if (match.kind !== "found")
    return refuse(
      match.kind === "wrong_method" ? dialectOf(match.dialect) : dialectOfPath(request.path),
      match.kind,
      request,
      match.kind === "wrong_method" ? match.allow : undefined,
    );
  const { route, params } = match;
  try {
    const refusal = deps.authorize(
      route.access,
      route.dialect,
      request,
      route.kind === "plain" ? factsOf(route.plain) : undefined,
    );
    if (refusal !== undefined) throw refusal;
    return route.kind === "rpc"
      ? await callMethod(route, params, request)
      : await callPlain(route, params, deps, request);
  } catch (thrown) {
    return failed(deps.log, route, request, thrown);
  }
}

function factsOf(plain: PlainRoute): RouteFacts {
  return {
    allowedOrigins: plain.allowedOrigins?.(),
    hasCredential: (headers) => plain.hasCredential?.(headers) ?? false,
  };
}

async function callMethod(
  route: RpcRoute,
  params: Readonly<Record<string, string>>,
  request: RestRequest,
): Promise<RestAnswer> {
  const { method } = route;
  if (method.refusal !== undefined) throw method.refusal;
  if (method.requireJson) checkJsonType(request);
  const body = route.binder.readsBody
    ? await readJsonBody(await readBody(request, method.bodyBytes))
    : undefined;
  const message = route.binder.bind({ params, search: request.search, body });
  const found = checkRules<DescMessage>(method.rpc.input, message);
  if (found.length > 0) throw invalidRequest(found);
  const json = await invoke(method, message, callOf(request, request.signal));
  const written = isWritten(json) ? json : undefined;
  const answer = dialectOf(method.dialect).success(
    restMessage(method.rpc),
    isWritten(json) ? "" : json,
    {
      status: method.httpStatus,
      raw: method.raw,
      attachment: method.attachment,
      requestId: request.requestId,
    },
  );
  // A method that writes its JSON itself may compress it: its response varies with Accept-Encoding.
  if (method.json === undefined) return answer;
  const headers = { ...answer.headers, vary: "accept-encoding" };
  if (written === undefined) return { ...answer, headers };
  const encoded = written.encoding === undefined ? {} : { "content-encoding": written.encoding };
  return {
    status: written.status ?? answer.status,
    headers: { ...headers, ...encoded, ...written.headers },
    body: written.pieces,
  };
}

function isWritten(json: string | Uint8Array | WrittenJson): json is WrittenJson {
  return typeof json === "object" && "pieces" in json;
}

async function invoke(
  method: Method,
  message: MessageShape<DescMessage>,
  call: Call,
): Promise<string | Uint8Array | WrittenJson> {
  if (method.json !== undefined) return await method.json(message, call);
  const handler = method.handler as UnaryHandler<DescMessage, DescMessage>;
  return writeRestJson(method.rpc, create(method.rpc.output, await handler(message, call)));
}

async function callPlain(
  route: OtherRoute,
  params: Readonly<Record<string, string>>,
  { clock, log }: RestDeps,
  request: RestRequest,
): Promise<RestAnswer> {
  const { requestMs } = route.plain.limits ?? {};
  const handle = (signal: AbortSignal): Promise<RestAnswer> =>
    route.plain.handle(plainRequest(route, params, request), callOf(request, signal));
  const answer = await (requestMs === undefined
    ? handle(request.signal)
    : within(requestMs, request.signal, clock, handle));
  return isStream(answer.body) && request.method !== "HEAD"
    ? { ...answer, body: watched(answer.body, route, log, request) }
    : answer;
}

function plainRequest(
  route: OtherRoute,
  params: Readonly<Record<string, string>>,
  request: RestRequest,
): PlainRequest {
  const { method, path, search, headers, remote, secured } = request;
  const most = route.plain.limits?.bodyBytes ?? dialectOf(route.dialect).bodyBytes;
  return {
    method,
    path,
    params,
    headers,
    remote,
    secured,
    target: `${path}${search}`,
    query: new URLSearchParams(search),
    body: (limitBytes = most) => request.readBody(Math.min(limitBytes, most)),
  };
}

function callOf({ requestId, remote, headers }: RestRequest, signal: AbortSignal): Call {
  return createCall({ signal, requestId, remote, headers });
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json *(?:;|$)/i;

function checkJsonType({ headers }: RestRequest): void {
  const type = headers["content-type"];
  if (typeof type === "string" && JSON_TYPE.test(type)) return;
  throw new StewardError(
    "invalid",
    "the body must have Content-Type application/json; send that header",
    { rule: "content_type" },
  );
}

/** A missing or form content type is read as JSON; a compressed body is not decompressed. */
async function readBody(request: RestRequest, limitBytes: number): Promise<Uint8Array> {
  const encoding = request.headers["content-encoding"] ?? "identity";
  if (encoding !== "identity")
    throw new StewardError(
      "invalid",
      "a body with Content-Encoding is not accepted; send it uncompressed",
      { rule: "content_encoding" },
    );
  return await request.readBody(limitBytes);
}

function refuse(
  dialect: Dialect,
  why: "wrong_method" | "malformed" | "unknown",
  request: RestRequest,
  allow: readonly string[] | undefined,
): RestAnswer {
  const options: FailureOptions = { path: request.path, ...(allow === undefined ? {} : { allow }) };
  switch (why) {
    case "wrong_method":
      return dialect.failure(
        new StewardError(
          "unsupported",
          `${request.method} is not possible here; use ${(allow ?? []).join(", ")}`,
        ),
        options,
      );
    case "malformed":
      return dialect.failure(
        new StewardError(
          "invalid",
          "the path must begin with a slash and contain only percent-encoded UTF-8; write %25 for a percent sign",
          { rule: BAD_REQUEST },
        ),
        options,
      );
    default:
      return dialect.failure(
        new StewardError("not_found", "there is no such path", { rule: UNKNOWN_ROUTE }),
        options,
      );
  }
}

function failed(log: Log, route: Route, request: RestRequest, thrown: unknown): RestAnswer {
  const error = seenError(thrown, request.requestId);
  if (isInternal(error))
    log.error("request failed", {
      error: thrown,
      request_id: request.requestId,
      route: `${route.verb} ${route.template.text}`,
    });
  const { path } = request;
  const answer = dialectOf(route.dialect).failure(error, { path, access: route.access });
  const more = route.kind === "plain" ? route.plain.failureHeaders?.(request.headers) : undefined;
  return more === undefined ? answer : { ...answer, headers: { ...answer.headers, ...more } };
}

/** The status of a failing stream is already sent: it can only be logged and cut. */
async function* watched(
  body: AsyncIterable<string | Uint8Array>,
  route: Route,
  log: Log,
  request: RestRequest,
): AsyncGenerator<string | Uint8Array> {
  try {
    yield* body;
  } catch (thrown) {
    if (!request.signal.aborted)
      log.error("a stream was interrupted", {
        error: thrown,
        request_id: request.requestId,
        route: `${route.verb} ${route.template.text}`,
      });
    throw thrown;
  }
}

/** Whether a body is a stream, of unknown length. */
export function isStream(body: RestAnswer["body"]): body is AsyncIterable<string | Uint8Array> {
  return typeof body === "object" && Symbol.asyncIterator in body;
}

/** Bytes of a complete body. */
export function bodyBytes(body: string | Uint8Array | readonly Uint8Array[]): number {
  return typeof body === "string" || body instanceof Uint8Array
    ? Buffer.byteLength(body)
    : bytesIn(body);
}

/** Lets a stream that nobody reads release its resources. */
export function endUnread(body: RestAnswer["body"]): void {
  if (!isStream(body)) return;
  const iterator = body[Symbol.asyncIterator]();
  // A generator that has not begun would run no `finally`. Its first piece may be long in coming:
  // nobody waits for it, and nobody misses one that fails.
  void Promise.allSettled([iterator.next(), iterator.return?.()]);
}

function withoutBody(answer: RestAnswer): RestAnswer {
  endUnread(answer.body);
  if (answer.status === 204 || answer.status === 304 || isStream(answer.body))
    return { ...answer, body: "" };
  const length = { "content-length": String(bodyBytes(answer.body)) };
  return { ...answer, headers: { ...answer.headers, ...length }, body: "" };
}
