/**
 * What one listener bears: every number that bounds a connection, a request or a stream, with its
 * default.
 */
import type { Share } from "./shares.ts";

const MIB = 1024 * 1024;

/** Bounds of one share of a listener's capacity. No other share can use it up. */
export interface ShareLimits {
  /** Requests being answered; as many more may wait for a place. */
  readonly requests: number;
  /** The same for one client's address, where the address is not shared by many. */
  readonly requestsPerAddress: number;
  /** Long-lived answers. */
  readonly streams: number;
  readonly streamsPerConnection: number;
  readonly streamsPerAddress: number;
  /** The age at which a long-lived answer is ended in its protocol's proper way. */
  readonly streamMs: number;
  /** Bytes of all bodies that are being read or used. */
  readonly bodiesBytes: number;
  /** Bytes of one body; the route's own limit also applies. */
  readonly bodyBytes: number;
  /** From the head to the end of the body. Later is answered 408. */
  readonly bodyMs: number;
}

/** Bounds of one listener. Each one fires by itself, whatever the handler does. */
export interface ListenLimits extends Readonly<Record<Share, ShareLimits>> {
  /**
   * Open connections. One more takes the place of the one that is worth least; where all carry
   * owners' requests it is answered 503 and closed.
   */
  readonly connections: number;
  /** Bytes of one request's head; HTTP/2: the header list. More is answered 431. */
  readonly headerBytes: number;
  /**
   * From the first byte to the end of the head, and from connecting to the first request. Later is
   * answered 408.
   */
  readonly headerMs: number;
  /** A kept connection without a request. Longer is closed. */
  readonly idleMs: number;
  /**
   * An answer that waits for its reader without moving. Longer is cut, a tenth of it early at most.
   */
  readonly stallMs: number;
  /** How long one more request waits for a place. Longer is refused. */
  readonly admissionMs: number;
  /**
   * HTTP/1.1 requests of one connection that wait for the answer of the one before. One more ends
   * the connection.
   */
  readonly pipelined: number;
  /** HTTP/2 streams open at once on one connection. */
  readonly streamsPerConnection: number;
  /** HTTP/2 streams a client may reset at once (CVE-2023-44487). One more ends the connection. */
  readonly resetBurst: number;
  /** How many resets a second are forgiven. */
  readonly resetsPerSecond: number;
}

/** Limits that replace defaults, one by one. */
export type LimitOverrides = Partial<Omit<ListenLimits, Share>> & {
  readonly [S in Share]?: Partial<ShareLimits>;
};

const OWNER: ShareLimits = {
  requests: 256,
  requestsPerAddress: 256,
  streams: 256,
  streamsPerConnection: 64,
  streamsPerAddress: 128,
  streamMs: 60 * 60_000,
  bodiesBytes: 128 * MIB,
  bodyBytes: 32 * MIB,
  bodyMs: 30_000,
};

const STRANGER: ShareLimits = {
  requests: 32,
  requestsPerAddress: 16,
  streams: 64,
  streamsPerConnection: 8,
  streamsPerAddress: 16,
  streamMs: 10 * 60_000,
  bodiesBytes: 2 * MIB,
  bodyBytes: 64 * 1024,
  bodyMs: 30_000,
};

const PROBE: ShareLimits = {
  requests: 64,
  requestsPerAddress: 64,
  streams: 0,
  streamsPerConnection: 0,
  streamsPerAddress: 0,
  streamMs: 0,
  bodiesBytes: 64 * 4096,
  bodyBytes: 4096,
  bodyMs: 2_000,
};

/**
 * Bodies of strangers where no credential is set: behind a proxy everybody is one, and may do
 * everything.
 */
export const OPEN_STRANGER: Pick<ShareLimits, "bodiesBytes" | "bodyBytes"> = {
  bodiesBytes: 32 * MIB,
  bodyBytes: 16 * MIB,
};

/** The limits of every listener that sets none of its own. */
export const DEFAULT_LIMITS: ListenLimits = {
  connections: 1024,
  headerBytes: 16 * 1024,
  headerMs: 10_000,
  idleMs: 120_000,
  stallMs: 30_000,
  admissionMs: 250,
  pipelined: 100,
  streamsPerConnection: 100,
  resetBurst: 200,
  resetsPerSecond: 33,
  owner: OWNER,
  stranger: STRANGER,
  probe: PROBE,
};

/** The defaults with these in their stead. */
export function resolveLimits({
  owner,
  stranger,
  probe,
  ...rest
}: LimitOverrides = {}): ListenLimits {
  return {
    ...DEFAULT_LIMITS,
    ...rest,
    owner: { ...OWNER, ...owner },
    stranger: { ...STRANGER, ...stranger },
    probe: { ...PROBE, ...probe },
  };
}
