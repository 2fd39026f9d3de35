/**
 * The HTTP/1.1 side of a port: Node's parser with the listener's limits. The server never listens; sockets are handed
 * to it, and it is told once that it listens, else it tracks no connection and no header timeout ever fires.
 */
import { createServer } from "node:http";
import type { Socket } from "node:net";
import type { Handler } from "./exchange.ts";
import type { ListenLimits } from "./limits.ts";

/** Speaks HTTP/1.1 on sockets it is given. */
export interface Http1Side {
  take(socket: Socket): void;
  /** Stops the timers. Open sockets stay the owner's. */
  close(): void;
}

/** `busy` says how many requests a socket carries: a socket without any has been idle too long when its time is over. */
export function createHttp1Side(limits: ListenLimits, handle: Handler, busy: (socket: Socket) => number): Http1Side {
  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headerMs,
    requestTimeout: 0,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: Math.max(20, Math.min(1000, limits.headerMs / 4)),
  }, (request, response) => void handle(request, response));
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
      socket.resume();
    },
    close: () => void server.close(() => undefined),
  };
}
