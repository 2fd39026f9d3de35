/** A request with its response, and the differences between HTTP/1.1 and HTTP/2. */
import type { IncomingMessage, ServerResponse as Http1Response } from "node:http";
import { constants, Http2ServerRequest, type ServerHttp2Stream } from "node:http2";

/** A request over HTTP/1.1 or HTTP/2: Node gives both the surface of the first. */
export type ServerRequest = IncomingMessage;

/** Its answer. */
export type ServerResponse = Http1Response;

/** The stream of a request over HTTP/2; undefined for one over HTTP/1.1. */
export function streamOf(request: ServerRequest): ServerHttp2Stream | undefined {
  const either: unknown = request;
  return either instanceof Http2ServerRequest ? either.stream : undefined;
}

/** Whether a request brings a body. */
export function hasBody(request: ServerRequest): boolean {
  const stream = streamOf(request);
  if (stream !== undefined) return !stream.endAfterHeaders;
  return (
    request.headers["transfer-encoding"] !== undefined ||
    Number(request.headers["content-length"] ?? 0) > 0
  );
}

/** Maximum rest of a body that is read and dropped, to keep its connection usable. */
const DISCARDED_BYTES = 64 * 1024;

/** Drops the unread rest of a body up to a limit; beyond it the rest stays unread. */
export function discardBody(request: ServerRequest): void {
  if (request.destroyed || request.readableEnded) return;
  let dropped = 0;
  request
    .on("data", (chunk: Uint8Array) => {
      dropped += chunk.length;
      if (dropped > DISCARDED_BYTES) request.pause();
    })
    .resume();
}

/**
 * Call before the head of a response is written: over HTTP/1.1 the connection ends after it when
 * more of the body may arrive than is worth reading.
 */
export function closeUnlessBodyIsShort(request: ServerRequest, response: ServerResponse): void {
  if (
    request.complete ||
    response.headersSent ||
    streamOf(request) !== undefined ||
    !hasBody(request)
  )
    return;
  if (Number(request.headers["content-length"] ?? Infinity) > DISCARDED_BYTES)
    response.setHeader("connection", "close");
}

/**
 * Aborts the response so that the client sees it is incomplete: the connection over HTTP/1.1, the
 * stream over HTTP/2.
 */
export function cut(request: ServerRequest): void {
  const stream = streamOf(request);
  if (stream === undefined) request.socket.destroy();
  else stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}

/**
 * Answers with one line of text, unless a response has begun; then aborts it. `last` closes the
 * connection after it.
 */
export function refuse(
  request: ServerRequest,
  response: ServerResponse,
  status: number,
  text: string,
  options: { last?: boolean; headers?: Record<string, string> } = {},
): void {
  if (response.headersSent) return cut(request);
  const body = `${text}\n`;
  const headers = {
    "cache-control": "no-store",
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
    "content-length": String(Buffer.byteLength(body)),
    ...options.headers,
  };
  const stream = streamOf(request);
  response.writeHead(
    status,
    options.last === true && stream === undefined ? { ...headers, connection: "close" } : headers,
  );
  response.end(body, () => options.last === true && stream?.close(constants.NGHTTP2_NO_ERROR));
}
