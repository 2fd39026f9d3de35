/**
 * The HTTP/2 side of a port: sessions with the listener's limits, closed when idle, ended when a
 * client resets streams too fast or no longer answers.
 */
import {
  constants,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { refuse, type ServerRequest, type ServerResponse } from "../exchange.ts";
import type { Prepare } from "../handler.ts";
import type { ListenLimits } from "../admission/limits.ts";
import type { Serve } from "../requests.ts";
import { createStallMeter, type StallMeter } from "../admission/stall.ts";

/** How long a session takes to end once its last bytes may go. */
const END_MS = 1_000;

/** Speaks HTTP/2 on sockets it is given. */
export interface Http2Side {
  take(socket: Socket): void;
  holds(socket: Socket): boolean;
  /** Sends GOAWAY to every client and ends each session with its last stream. */
  drain(): void;
}

/** Sockets belong to the owner; a session ends with its socket. */
export function createHttp2Side(
  limits: ListenLimits,
  { prepare, serve, cut }: { prepare: Prepare; serve: Serve; cut: (socket: Socket) => void },
  deps: { clock: Clock; log: Log },
): Http2Side {
  const sessions = new Set<ServerHttp2Session>();
  const sockets = new WeakSet<Socket>();
  const socketOf = new WeakMap<object, Socket>();
  /** The socket being passed; its session event is emitted synchronously. */
  let taken: Socket | undefined;
  const server = createServer(
    {
      settings: {
        maxConcurrentStreams: limits.streamsPerConnection,
        maxHeaderListSize: limits.headerBytes,
        enablePush: false,
      },
      streamResetBurst: limits.resetBurst,
      streamResetRate: limits.resetsPerSecond,
    },
    (request: Http2ServerRequest, response: Http2ServerResponse) => {
      cutWhenStalled(request.stream, createStallMeter(limits.stallMs, deps.clock));
      const exchange = [
        request as unknown as ServerRequest,
        response as unknown as ServerResponse,
      ] as const;
      prepare(...exchange);
      const { session } = request.stream;
      const socket = session === undefined ? undefined : socketOf.get(session);
      if (socket === undefined) return request.stream.destroy();
      if (headTooLarge(request, limits.headerBytes))
        refuse(...exchange, 431, "the header list is too large");
      else void serve(...exchange, socket);
    },
  );
  // Otherwise Node answers these itself, without headers.
  server.on("checkExpectation", (request: Http2ServerRequest, response: Http2ServerResponse) => {
    const exchange = [
      request as unknown as ServerRequest,
      response as unknown as ServerResponse,
    ] as const;
    prepare(...exchange);
    request.resume();
    refuse(...exchange, 417, "Expectation Failed");
  });
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    const socket = taken;
    if (socket === undefined) return session.destroy();
    socketOf.set(session, socket);
    const cutThis = (): void => cut(socket);
    const openStreams = closeWhenIdle(session, limits, { clock: deps.clock, cut: cutThis });
    cutWhenGone(session, limits.stallMs, { isIdle: () => openStreams() === 0, cut: cutThis });
  });
  server.on("sessionError", (error) => deps.log.debug("an HTTP/2 session failed", { error }));
  return {
    take(socket) {
      // HTTP/2 has no half-closed connections: a client that ends its side is gone.
      socket.allowHalfOpen = false;
      sockets.add(socket);
      taken = socket;
      server.emit("connection", socket);
      taken = undefined;
    },
    holds: (socket) => sockets.has(socket),
    drain: () => sessions.forEach((session) => session.close()),
  };
}

// nghttp2 enforces our settings only once the client has acknowledged them; the first requests may
// come before.
function headTooLarge(request: Http2ServerRequest, mostBytes: number): boolean {
  if (request.stream.session?.pendingSettingsAck !== true) return false;
  return request.rawHeaders.reduce((bytes, text) => bytes + text.length + 16, 0) > mostBytes;
}

// Counted from the last stream instead of the last byte: pings and partial headers do not keep a
// session alive. Gives the number of open streams.
function closeWhenIdle(
  session: ServerHttp2Session,
  limits: ListenLimits,
  { clock, cut }: { clock: Clock; cut: () => void },
): () => number {
  let open = 0;
  let closed = false;
  const arm = (ms: number): Disposable =>
    clock.timer(clock.monotonic() + ms, () => {
      if (session.destroyed) return cut();
      session.goaway(constants.NGHTTP2_NO_ERROR);
      session.destroy();
      timer = arm(END_MS);
    });
  let timer = arm(limits.headerMs);
  session.on("stream", (stream) => {
    open += 1;
    timer[Symbol.dispose]();
    stream.once("close", () => {
      open -= 1;
      if (open === 0 && !closed) timer = arm(session.destroyed ? END_MS : limits.idleMs);
    });
  });
  session.once("close", () => {
    closed = true;
    timer[Symbol.dispose]();
  });
  return () => open;
}

/**
 * Asks a session with requests on which nothing moved for a while whether its client is there: all
 * acknowledge pings (RFC 9113, section 6.7), but those without a thread of their own only while
 * they wait for a response. A client that does not is cut after as much time again, whatever its
 * requests wait for (docs/architecture/admission.md).
 */
function cutWhenGone(
  session: ServerHttp2Session,
  stallMs: number,
  { isIdle, cut }: { isIdle: () => boolean; cut: () => void },
): void {
  let asked = false;
  session.setTimeout(stallMs);
  session.on("timeout", () => {
    if (!isIdle()) {
      if (asked) return cut();
      asked = session.ping(() => void (asked = false));
    }
    session.setTimeout(stallMs);
  });
}

function cutWhenStalled(stream: ServerHttp2Stream, meter: StallMeter): void {
  stream.setTimeout(meter.partMs);
  stream.on("timeout", () => {
    if (stream.writableLength === 0) return;
    if (meter.fired()) stream.close(constants.NGHTTP2_CANCEL);
    else stream.setTimeout(meter.partMs);
  });
}
