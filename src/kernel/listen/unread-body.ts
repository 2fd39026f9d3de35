/**
 * What becomes of the rest of a body once its answer is out: it is read and dropped for a moment.
 * Over HTTP/2 the stream is then closed (RFC 9113 §8.1). Over HTTP/1.1 that is for connections that
 * end with the answer: one that is closed with unread bytes is reset, and the client would never
 * read the answer (RFC 9112 §9.6).
 */
import { constants, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { Clock } from "../base/clock.ts";
import { hasBody, streamOf, type ServerRequest } from "./exchange.ts";

const LINGER_MS = 1000;
/**
 * How much of a body is read and dropped while its connection lingers: each byte is garbage to be
 * collected. What comes after it waits in the system's buffers.
 */
const LINGER_BYTES = 64 * 1024;

/** To be called once a request, before its answer begins. */
export function endUnreadBody(request: ServerRequest, clock: Clock): void {
  if (!hasBody(request)) return;
  const stream = streamOf(request);
  if (stream === undefined) lingerOnClose(request, clock);
  else stream.once("finish", () => closeSoon(stream, clock));
}

/**
 * Not at once: trailers may still be on their way, and most clients are about to end their side
 * themselves.
 */
function closeSoon(stream: ServerHttp2Stream, clock: Clock): void {
  if (stream.readableEnded || stream.closed) return;
  const timer = clock.timer(clock.monotonic() + LINGER_MS, () => {
    stream.close(constants.NGHTTP2_NO_ERROR);
    // Bytes that nobody reads would keep it open on this side.
    setImmediate(() => stream.destroy());
  });
  stream.once("close", () => timer[Symbol.dispose]());
}

/** The latest request with a body of each connection over HTTP/1.1. */
const latest = new WeakMap<Socket, ServerRequest>();

/**
 * Node ends a connection by `destroySoon`: with the rest of a body still to come it is ended in two
 * steps here. Replaced once for each connection, since one that is kept brings thousands of
 * requests.
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
  // The parser would go on reading whatever it is told.
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
