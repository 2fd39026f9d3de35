/**
 * Handles the unread rest of a body after the response: it is read and dropped for a moment. Over
 * HTTP/2 the stream is then closed (RFC 9113 §8.1). Over HTTP/1.1 this applies to connections that
 * end with the response: closing one with unread bytes resets it, and the client would not get the
 * response (RFC 9112 §9.6).
 */
import { constants, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { Clock } from "../../base/clock.ts";
import { hasBody, streamOf, type ServerRequest } from "../exchange.ts";
import { atEndOfTurn } from "../../async/turns.ts";

const LINGER_MS = 1000;
/**
 * Maximum bytes read and dropped while a connection lingers: each byte is garbage. Further bytes
 * stay in the system's buffers.
 */
const LINGER_BYTES = 64 * 1024;

/** Call once per request, before its response begins. */
export function endUnreadBody(request: ServerRequest, clock: Clock): void {
  if (!hasBody(request)) return;
  const stream = streamOf(request);
  if (stream === undefined) lingerOnClose(request, clock);
  else stream.once("finish", () => closeSoon(stream, clock));
}

/**
 * Delayed: trailers may still be in transit, and most clients are about to end their side
 * themselves.
 */
function closeSoon(stream: ServerHttp2Stream, clock: Clock): void {
  if (stream.readableEnded || stream.closed) return;
  const timer = clock.timer(clock.monotonic() + LINGER_MS, () => {
    stream.close(constants.NGHTTP2_NO_ERROR);
    // Unread bytes would keep it open on this side.
    atEndOfTurn(() => stream.destroy());
  });
  stream.once("close", () => timer[Symbol.dispose]());
}

/** The latest request with a body of each HTTP/1.1 connection. */
const latest = new WeakMap<Socket, ServerRequest>();

/**
 * Node ends a connection with `destroySoon`: with an unread body it is ended in two steps here.
 * Replaced once per connection, since a kept one has thousands of requests.
 */
function lingerOnClose(request: ServerRequest, clock: Clock): void {
  const { socket } = request;
  const isReplaced = latest.has(socket);
  latest.set(socket, request);
  if (isReplaced) return;
  const destroySoon = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    socket.destroySoon = destroySoon;
    if (latest.get(socket)?.complete !== false || socket.destroyed || socket.readableEnded)
      destroySoon();
    else linger(socket, clock);
  };
}

function linger(socket: Socket, clock: Clock): void {
  const upToBytes = socket.bytesRead + LINGER_BYTES;
  const stop = (): void => void socket.destroy();
  const timer = clock.timer(clock.monotonic() + LINGER_MS, stop);
  // The parser would continue reading.
  socket.removeAllListeners("data");
  socket
    .on("data", () => {
      if (socket.bytesRead > upToBytes) socket.pause();
    })
    .once("end", stop)
    .once("close", () => timer[Symbol.dispose]());
  socket.end();
  socket.resume();
}
