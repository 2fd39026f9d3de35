/**
 * Tells HTTP/1.1 from HTTP/2 by a connection's first bytes. They are kept aside until they decide
 * and are put back once: putting back a part and listening again would spin the event loop for
 * ever.
 */
import type { Socket } from "node:net";
import type { Clock } from "../base/clock.ts";

/** What a connection speaks. */
export type Protocol = "h1" | "h2" | "tls";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");
const TLS_HANDSHAKE = 0x16;

/**
 * What these first bytes begin; undefined while they are a part of the HTTP/2 preface (RFC 9113
 * §3.4).
 */
export function classify(held: Uint8Array): Protocol | undefined {
  if (held.length === 0) return undefined;
  if (held[0] === TLS_HANDSHAKE) return "tls";
  const compared = Math.min(held.length, PREFACE.length);
  if (PREFACE.compare(held, 0, compared, 0, compared) !== 0) return "h1";
  return held.length >= PREFACE.length ? "h2" : undefined;
}

/**
 * Watches a fresh connection and hands it over, paused and with all its bytes, as soon as they
 * decide. Gives it up at the deadline.
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
