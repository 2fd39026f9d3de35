/** Options, look-ups and figures of reverse DNS. */

export interface ReverseDnsOptions {
  /** Address of a resolver, with or without a port; empty for the system's. */
  readonly server: string;
  readonly timeoutMs: number;
  readonly cacheTtlMs: number;
  readonly negativeTtlMs: number;
  /** How long a name outlives its time while it is looked up anew. */
  readonly staleTtlMs: number;
  readonly maxEntries: number;
}

/** Names of addresses. */
export interface ReverseNames {
  /**
   * The name as far as it is known now. Never waits: an unknown address is looked up in the
   * background, so that a later call finds its name.
   */
  nameOf(address: string): string | undefined;
}

/** Totals since the start, except `size` and `lastPurgeMs`. */
export interface ReverseDnsFigures {
  readonly size: number;
  readonly hits: number;
  readonly stale: number;
  readonly negatives: number;
  readonly misses: number;
  /** Queries that the resolver answered, also with "no name". */
  readonly answered: number;
  readonly failed: number;
  readonly refreshed: number;
  readonly refreshesFailed: number;
  readonly expired: number;
  readonly staleExpired: number;
  readonly purged: number;
  readonly overflows: number;
  /** Milliseconds since 1970; undefined before the first purge. */
  readonly lastPurgeMs: number | undefined;
}
