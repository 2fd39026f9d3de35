/**
 * The TLS side of a port: handshakes within the listener's time, and the protocol that client and
 * server agree on (RFC 7301).
 */
import { constants } from "node:crypto";
import type { Socket } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import type { Log } from "../base/log.ts";
import { asksForCertificate, mayEnter, type ClientAuth } from "./client-certificates.ts";
import type { KeyPair } from "./key-pair.ts";

/** What becomes of a connection whose handshake is done. */
type Secured = (socket: TLSSocket, protocol: "h1" | "h2") => void;

/** What a handshake is made with. */
interface HandshakeTexts {
  readonly pair: KeyPair;
  /** PEM certificates that clients' are checked against; undefined when they are not. */
  readonly clientCa: string | undefined;
}

/** Speaks TLS on sockets it is given. */
export interface TlsSide {
  /**
   * A handshake that fails or takes too long closes the connection; `secured` is called once when
   * it succeeds.
   */
  take(raw: Socket, texts: HandshakeTexts, secured: Secured): void;
}

/**
 * TLS 1.2 or newer. The server never listens; sockets with their first bytes put back are handed to
 * it.
 */
export function createTlsSide(options: {
  handshakeMs: number;
  clientAuth: ClientAuth;
  log: Log;
}): TlsSide {
  const { clientAuth } = options;
  const waiting = new Map<string, Secured>();
  let used: HandshakeTexts | undefined;
  // What a certificate is worth is decided below, so that the modes differ in one place.
  const server = createServer({
    ALPNProtocols: ["h2", "http/1.1"],
    handshakeTimeout: options.handshakeMs,
    allowHalfOpen: true,
    requestCert: asksForCertificate(clientAuth),
    rejectUnauthorized: false,
  });
  server.on("tlsClientError", (error, socket) => {
    options.log.debug("a TLS handshake failed", { error });
    socket.destroy();
  });
  server.on("secureConnection", (socket) => {
    socket.on("error", (error) => options.log.debug("a TLS connection failed", { error }));
    // A client could make the server compute for ever.
    socket.disableRenegotiation();
    const secured = waiting.get(nameOf(socket));
    if (secured === undefined || !mayEnter(clientAuth, socket)) socket.destroy();
    else secured(socket, socket.alpnProtocol === "h2" ? "h2" : "h1");
  });
  return {
    take(raw, texts, secured) {
      // Only the handshakes from now on: one under way keeps the pair it began with.
      if (texts.pair !== used?.pair || texts.clientCa !== used.clientCa)
        server.setSecureContext(contextOf(texts, clientAuth));
      used = texts;
      const name = nameOf(raw);
      waiting.set(name, secured);
      raw.once("close", () => waiting.delete(name));
      server.emit("connection", raw);
    },
  };
}

function contextOf(
  { pair, clientCa }: HandshakeTexts,
  clientAuth: ClientAuth,
): Parameters<ReturnType<typeof createServer>["setSecureContext"]>[0] {
  return {
    ...pair.texts,
    minVersion: "TLSv1.2",
    ...(clientCa === undefined ? {} : { ca: clientCa }),
    // A resumed session would keep the judgement of an authority that is no longer trusted.
    ...(asksForCertificate(clientAuth) ? { secureOptions: constants.SSL_OP_NO_TICKET } : {}),
  };
}

// The server does not tell which of the sockets it was handed it has secured: both ends' addresses
// do.
function nameOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort} ${socket.localAddress}`;
}
