/**
 * Adapts Node's HTTP to the gateway's types: requests in, responses out with backpressure, whole
 * bodies within a limit.
 */
import { once } from "node:events";
import { constants } from "node:http2";
import type { TLSSocket } from "node:tls";
import { StewardError } from "../src/kernel/base/errors.ts";
import { unlimitedBody, type BodyAllowance } from "../src/kernel/listen/admission/body-budget.ts";
import {
  closeUnlessBodyIsShort,
  cut,
  discardBody,
  streamOf,
  type ServerRequest,
  type ServerResponse,
} from "../src/kernel/listen/exchange.ts";
import { bodyTooLarge, type Remote, type RequestHeaders } from "../src/kernel/service.ts";
import { parseAuthority } from "./access/host.ts";
import { bodyBytes, endUnread, isStream, type RestAnswer, type RestRequest } from "./rest.ts";
import { untilAborted } from "./until-aborted.ts";

/** A request's head. `headers` has the authority as `host`, over HTTP/2 too. */
export interface Head {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly headers: RequestHeaders;
  readonly remote: Remote;
  /** Whether TLS terminates here. */
  readonly secured: boolean;
}

/**
 * `clientOf` finds the client's address; default: the peer of the connection. Undefined when the
 * request has no single well-formed host, or its target is not a path (RFC 9112 §3.2).
 */
export function readHead(
  request: ServerRequest,
  clientOf: (peer: string, headers: RequestHeaders) => string = (peer) => peer,
): Head | undefined {
  const url = request.url ?? "";
  const pseudo = request.headers[":authority"];
  const host = typeof pseudo === "string" ? pseudo : request.headers.host;
  if (
    !url.startsWith("/") ||
    host === undefined ||
    hostsIn(request.rawHeaders) > 1 ||
    parseAuthority(host) === undefined
  )
    return undefined;
  const question = url.indexOf("?");
  const headers =
    pseudo === undefined
      ? request.headers
      : Object.fromEntries(
          Object.entries(request.headers).filter(([name]) => !name.startsWith(":")),
        );
  return {
    method: request.method ?? "GET",
    path: question < 0 ? url : url.slice(0, question),
    search: question < 0 ? "" : url.slice(question),
    headers: { ...headers, host },
    remote: {
      address: clientOf(request.socket.remoteAddress ?? "", headers),
      port: request.socket.remotePort ?? 0,
    },
    secured: (request.socket as Partial<TLSSocket>).encrypted === true,
  };
}

/** Number of Host headers; names and values alternate. */
function hostsIn(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === "host") hosts += 1;
  }
  return hosts;
}

/** Fires with `cancelled` when the client disconnected before its response was complete. */
export function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => {
    if (!wasSent(response))
      gone.abort(new StewardError("cancelled", "the client closed the connection"));
  });
  return gone.signal;
}

// A reset HTTP/2 stream counts as finished to Node.
function wasSent(response: ServerResponse): boolean {
  const stream = streamOf(response.req);
  return stream === undefined
    ? response.writableFinished
    : response.writableEnded && stream.rstCode === constants.NGHTTP2_NO_ERROR;
}

export function restRequest(
  request: ServerRequest,
  head: Head,
  facts: Pick<RestRequest, "signal" | "requestId"> & { readonly body: BodyAllowance },
): RestRequest {
  const { signal, requestId, body } = facts;
  return {
    ...head,
    signal,
    requestId,
    readBody: (limitBytes) => readBody(request, limitBytes, body),
  };
}

/**
 * The chunks of a body. When it is not read to its end, a short remainder is dropped so that the
 * client can read why.
 */
export async function* bodyChunks(
  request: ServerRequest,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw new StewardError("cancelled", "the connection was closed before the body was complete", {
      cause: error,
    });
  } finally {
    discardBody(request);
  }
}

/**
 * The whole body. Throws `too_large` as soon as that is known, `exhausted` when other bodies use up
 * the budget, `cancelled` when it does not arrive completely. A refused body is not kept.
 */
export async function readBody(
  request: ServerRequest,
  limitBytes: number,
  allowance: BodyAllowance = unlimitedBody,
): Promise<Uint8Array> {
  const declaredBytes = Number(request.headers["content-length"] ?? 0);
  try {
    if (declaredBytes > limitBytes) throw bodyTooLarge(limitBytes);
    allowance.reserve(declaredBytes);
  } catch (error) {
    discardBody(request);
    throw error;
  }
  return gathered(request, limitBytes, declaredBytes > 0 ? unlimitedBody : allowance);
}

// By events: a stream iterator takes as long as the rest of a small request.
function gathered(
  request: ServerRequest,
  limitBytes: number,
  allowance: BodyAllowance,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    const settle = (end: () => void): void => {
      request.off("data", take).off("end", whole).off("error", broken).off("close", broken);
      end();
    };
    const take = (chunk: Uint8Array): void => {
      bytes += chunk.length;
      try {
        if (bytes > limitBytes) throw bodyTooLarge(limitBytes);
        allowance.reserve(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        chunks.length = 0;
        settle(() => reject(error));
        discardBody(request);
      }
    };
    const whole = (): void =>
      settle(() =>
        resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)),
      );
    const broken = (cause?: unknown): void =>
      settle(() =>
        reject(
          new StewardError("cancelled", "the connection was closed before the body was complete", {
            cause,
          }),
        ),
      );
    if (request.readableEnded) return whole();
    if (request.destroyed) return broken();
    request.on("data", take).once("end", whole).once("error", broken).once("close", broken);
  });
}

/** When a stream ends early. */
export interface StreamEnds {
  /** The client disconnected. */
  readonly gone: AbortSignal;
  /**
   * The listener drains, or the stream has reached its maximum age: endless event streams then end
   * properly.
   */
  readonly ending: readonly AbortSignal[];
}

/**
 * Sends a response. A stream that throws is cut, so that the client sees it is incomplete. Never
 * rejects.
 */
export async function writeAnswer(
  request: ServerRequest,
  response: ServerResponse,
  answer: RestAnswer,
  ends: StreamEnds,
): Promise<void> {
  closeUnlessBodyIsShort(request, response);
  if (answer.sent !== undefined) response.once("finish", answer.sent);
  const bare = answer.status === 204 || answer.status === 304;
  if (bare) endUnread(answer.body);
  const body = bare ? "" : answer.body;
  if (!isStream(body)) {
    // The length of a response to HEAD is that of the GET's, which is unknown if it is streamed.
    const needsLength =
      !bare && request.method !== "HEAD" && answer.headers["content-length"] === undefined;
    const length = needsLength ? { "content-length": String(bodyBytes(body)) } : {};
    response.writeHead(answer.status, { ...answer.headers, ...length });
    writeWhole(response, body);
    return;
  }
  const endless = String(answer.headers["content-type"]).startsWith("text/event-stream");
  const signal = endless ? AbortSignal.any([ends.gone, ...ends.ending]) : ends.gone;
  try {
    response.writeHead(answer.status, { ...answer.headers });
    response.flushHeaders();
    await pour(untilAborted(body, signal), response, signal);
    response.end();
  } catch {
    // The source of the body has logged the error; the client is gone, or sees a cut.
    if (endless && ends.ending.some((signal) => signal.aborted)) response.end();
    else cut(request);
  }
}

/** All pieces are sent in one go. */
function writeWhole(
  response: ServerResponse,
  body: string | Uint8Array | readonly Uint8Array[],
): void {
  if (typeof body === "string" || body instanceof Uint8Array) return void response.end(body);
  response.cork();
  for (const piece of body) response.write(piece);
  response.end();
}

async function pour(
  chunks: AsyncIterable<string | Uint8Array>,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  for await (const chunk of chunks) {
    if (!response.write(chunk)) await once(response, "drain", { signal });
  }
}
