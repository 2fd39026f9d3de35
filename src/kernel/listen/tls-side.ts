/** The TLS side of a port: handshakes within the listener's time, and the protocol that client and server agree on (RFC 7301). */
import type { Socket } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import type { Log } from "../base/log.ts";
import type { KeyPair } from "./key-pair.ts";

/** What becomes of a connection whose handshake is done. */
export type Secured = (socket: TLSSocket, protocol: "h1" | "h2") => void;

/** Speaks TLS on sockets it is given. */
export interface TlsSide {
  /** A handshake that fails or takes too long closes the connection; `secured` is called once when it succeeds. */
  take(raw: Socket, pair: KeyPair, secured: Secured): void;
}

/** TLS 1.2 or newer. The server never listens; sockets with their first bytes put back are handed to it. */
export function createTlsSide(options: { handshakeMs: number; log: Log }): TlsSide {
  const waiting = new Map<string, Secured>();
  let used: KeyPair | undefined;
  const server = createServer({ ALPNProtocols: ["h2", "http/1.1"], handshakeTimeout: options.handshakeMs, allowHalfOpen: true });
  server.on("tlsClientError", (error, socket) => {
    options.log.debug("a TLS handshake failed", { error });
    socket.destroy();
  });
  server.on("secureConnection", (socket) => {
    socket.on("error", (error) => options.log.debug("a TLS connection failed", { error }));
    // A client could make the server compute for ever.
    socket.disableRenegotiation();
    const secured = waiting.get(nameOf(socket));
    if (secured === undefined) socket.destroy();
    else secured(socket, socket.alpnProtocol === "h2" ? "h2" : "h1");
  });
  return {
    take(raw, pair, secured) {
      // Only the handshakes from now on: one under way keeps the pair it began with.
      if (pair !== used) server.setSecureContext({ ...pair.texts, minVersion: "TLSv1.2" });
      used = pair;
      const name = nameOf(raw);
      waiting.set(name, secured);
      raw.once("close", () => waiting.delete(name));
      server.emit("connection", raw);
    },
  };
}

// The server does not tell which of the sockets it was handed it has secured: both ends' addresses do.
function nameOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort} ${socket.localAddress}`;
}
