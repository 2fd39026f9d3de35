/** One request and its answer, whichever HTTP carried them, and the few things that differ between HTTP/1.1 and HTTP/2. */
import type { IncomingMessage, ServerResponse as Http1Response } from "node:http";
import { constants, Http2ServerRequest, type ServerHttp2Stream } from "node:http2";

/** A request over HTTP/1.1 or HTTP/2: Node gives both the surface of the first. */
export type ServerRequest = IncomingMessage;

/** Its answer. */
export type ServerResponse = Http1Response;

/** Sets what every answer of a port says of itself. Called once a request, before anything else looks at it: it must not throw. */
export type Prepare = (request: ServerRequest, response: ServerResponse) => void;

/** Answers one request. What it throws is logged and becomes a 500. */
export type Handler = (request: ServerRequest, response: ServerResponse) => void | Promise<void>;

/** The stream of a request over HTTP/2; undefined for one over HTTP/1.1. */
export function streamOf(request: ServerRequest): ServerHttp2Stream | undefined {
  const either: unknown = request;
  return either instanceof Http2ServerRequest ? either.stream : undefined;
}

/** Ends the answer at once so that the client sees it is incomplete: the connection over HTTP/1.1, the stream over HTTP/2. */
export function cut(request: ServerRequest): void {
  const stream = streamOf(request);
  if (stream === undefined) request.socket.destroy();
  else stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}

/** Answers with one line of text, unless an answer has begun; then cuts it. `last` closes the connection after it. */
export function refuse(request: ServerRequest, response: ServerResponse, status: number, text: string, options: { last?: boolean; headers?: Record<string, string> } = {}): void {
  if (response.headersSent) return cut(request);
  const body = `${text}\n`;
  const headers = { "cache-control": "no-store", "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff", "content-length": String(Buffer.byteLength(body)), ...options.headers };
  const stream = streamOf(request);
  response.writeHead(status, options.last === true && stream === undefined ? { ...headers, connection: "close" } : headers);
  response.end(body, () => options.last === true && stream?.close(constants.NGHTTP2_NO_ERROR));
}
