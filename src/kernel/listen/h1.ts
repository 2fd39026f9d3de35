/**
 * The HTTP/1.1 side of a port: Node's parser with the listener's limits. The server never listens; sockets are handed
 * to it, and it is told once that it listens, else it tracks no connection and no header timeout ever fires.
 */
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { refuse, type Handler, type ServerRequest, type ServerResponse } from "./exchange.ts";
import type { ListenLimits } from "./limits.ts";
import type { UncommonMethods } from "./uncommon-methods.ts";

/** Speaks HTTP/1.1 on sockets it is given. */
export interface Http1Side {
  take(socket: Socket): void;
  /** Stops the timers. Open sockets stay the owner's. */
  close(): void;
}

/** What the side is told with its limits. */
export interface Http1Options {
  readonly handle: Handler;
  /** How many requests a socket carries: one without any has been idle too long when its time is over. */
  readonly busy: (socket: Socket) => number;
  /** The methods that the parser does not know; undefined when there is none to be rescued. */
  readonly uncommon: UncommonMethods | undefined;
}

/** Nothing is open yet. */
export function createHttp1Side(limits: ListenLimits, { handle, busy, uncommon }: Http1Options): Http1Side {
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headerMs,
    requestTimeout: 0,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: Math.max(20, Math.min(1000, limits.headerMs / 4)),
  });
  server.on("request", (request: ServerRequest, response: ServerResponse) => {
    uncommon?.restore(request);
    void handle(request, response);
  });
  server.on("checkExpectation", (request: ServerRequest, response: ServerResponse) => {
    uncommon?.restore(request);
    request.resume();
    refuse(request, response, 417, "Expectation Failed");
  });
  server.maxHeadersCount = 0;
  server.timeout = limits.stallMs;
  // Node re-arms this time on every progress of a write, so bytes that still wait now have not moved.
  server.on("timeout", (socket) => {
    if (busy(socket) === 0 || socket.writableLength > 0) socket.destroy();
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
