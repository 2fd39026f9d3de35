/**
 * Limits of one listener: every number that bounds a connection, a request or a stream, with its
 * default.
 */
import type { Share } from "./shares.ts";

const MIB = 1024 * 1024;

/** Limits of one share of a listener's capacity. No other share can use it up. */
export interface ShareLimits {
  /** Concurrent requests; as many more may wait for a slot. */
  readonly requests: number;
  /** The same per client address, where the address is not shared by many. */
  readonly requestsPerAddress: number;
  /** Concurrent long-lived responses. */
  readonly streams: number;
  readonly streamsPerConnection: number;
  readonly streamsPerAddress: number;
  /** Maximum age of a long-lived response; it then ends in its protocol's proper way. */
  readonly streamMs: number;
  /** Bytes of all bodies being read or used. */
  readonly bodiesBytes: number;
  /** Bytes of one body; the route's own limit also applies. */
  readonly bodyBytes: number;
  /** From the head to the end of the body. Later: 408. */
  readonly bodyMs: number;
}

/** Limits of one listener, enforced independently of the handler. */
export interface ListenLimits extends Readonly<Record<Share, ShareLimits>> {
  /**
   * Open connections. One more replaces the one with the lowest priority; where all carry owners'
   * requests it gets 503 and is closed.
   */
  readonly connections: number;
  /** Bytes of one request's head; HTTP/2: the header list. More: 431. */
  readonly headerBytes: number;
  /**
   * From the first byte to the end of the head, and from connecting to the first request. Later:
   * 408.
   */
  readonly headerMs: number;
  /** A kept connection without a request is closed after this time. */
  readonly idleMs: number;
  /** A response whose reader does not read is cut after this time, at most a tenth earlier. */
  readonly stallMs: number;
  /** How long a request waits for a slot before it is refused. */
  readonly admissionMs: number;
  /**
   * HTTP/1.1 requests of one connection waiting for the previous response. One more ends the
   * connection.
   */
  readonly pipelined: number;
  /** Open HTTP/2 streams per connection. */
  readonly streamsPerConnection: number;
  /** HTTP/2 streams a client may reset at once (CVE-2023-44487). One more ends the connection. */
  readonly resetBurst: number;
  /** Resets per second that are forgiven. */
  readonly resetsPerSecond: number;
}

/** Limits that replace defaults. */
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
 * Body limits of strangers where no credential is configured: behind a proxy everybody is a
 * stranger with full access.
 */
export const OPEN_STRANGER: Pick<ShareLimits, "bodiesBytes" | "bodyBytes"> = {
  bodiesBytes: 32 * MIB,
  bodyBytes: 16 * MIB,
};

/** Default limits. */
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

/** The defaults with these overrides. */
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
