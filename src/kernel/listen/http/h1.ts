/**
 * The HTTP/1.1 side of a port: Node's parser with the listener's limits. The server never listens
 * itself; sockets are passed to it, and a `listening` event is emitted once, without which it
 * tracks no connections and header timeouts never fire.
 */
import { createServer } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../base/clock.ts";
import { refuse, type ServerRequest, type ServerResponse } from "../exchange.ts";
import type { Prepare } from "../handler.ts";
import type { ListenLimits } from "../admission/limits.ts";
import type { Serve } from "../requests.ts";
import { createStallMeter, type StallMeter } from "../admission/stall.ts";
import type { UncommonMethods } from "./uncommon-methods.ts";

/** Speaks HTTP/1.1 on sockets it is given. */
export interface Http1Side {
  take(socket: Socket): void;
  /** Stops the timers. Open sockets remain the owner's. */
  close(): void;
}

export interface Http1Options {
  readonly prepare: Prepare;
  readonly serve: Serve;
  /** Number of requests on a socket: one without any is closed when its idle time is over. */
  readonly busy: (socket: Socket) => number;
  /** Methods unknown to the parser; undefined when none are supported. */
  readonly uncommon: UncommonMethods | undefined;
  readonly clock: Clock;
}

export function createHttp1Side(
  limits: ListenLimits,
  { prepare, serve, busy, uncommon, clock }: Http1Options,
): Http1Side {
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headerMs,
    requestTimeout: 0,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: Math.max(20, Math.min(1000, limits.headerMs / 4)),
  });
  server.on("request", (request: ServerRequest, response: ServerResponse) => {
    uncommon?.restore(request);
    prepare(request, response);
    if (!meters.has(request.socket))
      meters.set(request.socket, createStallMeter(limits.stallMs, clock));
    void serve(request, response, request.socket);
  });
  server.on("checkExpectation", (request: ServerRequest, response: ServerResponse) => {
    uncommon?.restore(request);
    prepare(request, response);
    request.resume();
    refuse(request, response, 417, "Expectation Failed");
  });
  server.maxHeadersCount = 0;
  const meters = new WeakMap<Socket, StallMeter>();
  server.timeout = createStallMeter(limits.stallMs, clock).partMs;
  server.on("timeout", (socket) => {
    const meter = meters.get(socket);
    // Before the first request the header timeout applies, afterwards the idle timeout, which has
    // passed.
    if (meter === undefined) return;
    if (busy(socket) === 0 || (socket.writableLength > 0 && meter.fired())) socket.destroy();
    else if (socket.writableLength > 0) socket.setTimeout(meter.partMs);
  });
  server.emit("listening");
  return {
    take(socket) {
      server.emit("connection", socket);
      uncommon?.watch(socket);
      socket.resume();
    },
    close: () => void server.close(() => undefined),
  };
}
