/** What one listener bears: every number that bounds a connection, a request or a stream, with its default. */

/** Bounds of one listener. Each one fires by itself, whatever the handler does. */
export interface ListenLimits {
  /** Open connections. One more takes the place of one without a request; where all have one it is answered 503 and closed. */
  readonly connections: number;
  /** Bytes of one request's head; HTTP/2: the header list. More is answered 431. */
  readonly headerBytes: number;
  /** From the first byte to the end of the head, and from connecting to the first request. Later is answered 408. */
  readonly headerMs: number;
  /** From the head to the end of the body. Later is answered 408. */
  readonly bodyMs: number;
  /** A kept connection without a request. Longer is closed. */
  readonly idleMs: number;
  /** An answer that waits for its reader without moving. Longer is cut, a tenth of it early at most. */
  readonly stallMs: number;
  /** Requests being answered. */
  readonly inFlight: number;
  /** How long one more request waits for a place. Longer is answered 503. */
  readonly admissionMs: number;
  /** HTTP/1.1 requests of one connection that wait for the answer of the one before. One more ends the connection. */
  readonly pipelined: number;
  /** HTTP/2 streams open at once on one connection. */
  readonly streamsPerConnection: number;
  /** HTTP/2 streams a client may reset at once (CVE-2023-44487). One more ends the connection. */
  readonly resetBurst: number;
  /** How many resets a second are forgiven. */
  readonly resetsPerSecond: number;
}

/** The house's limits (RESOLUTIONS §2, Bodies; KERNEL §5). */
export const DEFAULT_LIMITS: ListenLimits = {
  connections: 1024,
  headerBytes: 16 * 1024,
  headerMs: 10_000,
  bodyMs: 30_000,
  idleMs: 120_000,
  stallMs: 30_000,
  inFlight: 256,
  admissionMs: 250,
  pipelined: 100,
  streamsPerConnection: 100,
  resetBurst: 200,
  resetsPerSecond: 33,
};
