/** The TLS side of a port: handshakes within the listener's time, and ALPN (RFC 7301). */
import { constants } from "node:crypto";
import type { Socket } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import type { Log } from "../../base/log.ts";
import { requestsCertificate, isClientAccepted, type ClientAuth } from "./client-certificates.ts";
import type { KeyPair } from "./key-pair.ts";

/** Called with a connection after its handshake. */
type Secured = (socket: TLSSocket, protocol: "h1" | "h2") => void;

interface HandshakeTexts {
  readonly pair: KeyPair;
  /** PEM certificates of client authorities; undefined when clients are not verified. */
  readonly clientCa: string | undefined;
}

/** Performs TLS handshakes on sockets passed to it. */
export interface TlsSide {
  /**
   * A handshake that fails or times out closes the connection; `secured` is called once on success.
   */
  take(raw: Socket, texts: HandshakeTexts, secured: Secured): void;
}

/**
 * TLS 1.2 or newer. The server never listens; sockets with their first bytes unshifted are passed
 * to it.
 */
export function createTlsSide(options: {
  handshakeMs: number;
  clientAuth: ClientAuth;
  log: Log;
}): TlsSide {
  const { clientAuth } = options;
  const waiting = new Map<string, Secured>();
  let used: HandshakeTexts | undefined;
  // `isClientAccepted` decides on certificates, so that the modes differ in one place.
  const server = createServer({
    ALPNProtocols: ["h2", "http/1.1"],
    handshakeTimeout: options.handshakeMs,
    allowHalfOpen: true,
    requestCert: requestsCertificate(clientAuth),
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
    if (secured === undefined || !isClientAccepted(clientAuth, socket)) socket.destroy();
    else secured(socket, socket.alpnProtocol === "h2" ? "h2" : "h1");
  });
  return {
    take(raw, texts, secured) {
      // Applies to handshakes from now on: a running one keeps its pair.
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
    // A resumed session would keep the verdict of an authority that is no longer trusted.
    ...(requestsCertificate(clientAuth) ? { secureOptions: constants.SSL_OP_NO_TICKET } : {}),
  };
}

// The server does not say which of its sockets it has secured: the addresses of both ends identify
// it.
function nameOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort} ${socket.localAddress}`;
}
