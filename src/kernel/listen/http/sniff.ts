/**
 * Detects HTTP/1.1 or HTTP/2 by a connection's first bytes. They are buffered until decided and
 * then unshifted once: unshifting a part and listening again would spin the event loop for ever.
 */
import type { Socket } from "node:net";
import type { Clock } from "../../base/clock.ts";

export type Protocol = "h1" | "h2" | "tls";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");
const TLS_HANDSHAKE = 0x16;

/**
 * The protocol of these first bytes; undefined while they are a prefix of the HTTP/2 preface (RFC
 * 9113 §3.4).
 */
export function classify(held: Uint8Array): Protocol | undefined {
  if (held.length === 0) return undefined;
  if (held[0] === TLS_HANDSHAKE) return "tls";
  const compared = Math.min(held.length, PREFACE.length);
  if (PREFACE.compare(held, 0, compared, 0, compared) !== 0) return "h1";
  return held.length >= PREFACE.length ? "h2" : undefined;
}

/**
 * Watches a new connection and passes it on, paused and with all its bytes, as soon as the protocol
 * is known. Closes it at the deadline.
 */
export function sniff(
  socket: Socket,
  options: { clock: Clock; deadlineMs: number; decided: (protocol: Protocol) => void },
): void {
  let held: Buffer = Buffer.alloc(0);
  const giveUp = (): void => {
    stop();
    socket.destroy();
  };
  const read = (chunk: Buffer): void => {
    held = Buffer.concat([held, chunk]);
    const protocol = classify(held);
    if (protocol === undefined) return;
    stop();
    socket.pause();
    socket.unshift(held);
    options.decided(protocol);
  };
  const timer = options.clock.timer(options.clock.monotonic() + options.deadlineMs, giveUp);
  const stop = (): void => {
    timer[Symbol.dispose]();
    socket.off("data", read).off("end", giveUp).off("close", giveUp);
  };
  socket.on("data", read).on("end", giveUp).on("close", giveUp);
}
