/**
 * Types of the lease that replicas share: the store of one mode, and what a replica holds. Only
 * the holder of the lease does active work.
 */

/** Proof that a store gave the lease. */
export interface Grant {
  /**
   * Fencing number: greater than that of every earlier holder. An effect with a smaller epoch than
   * the newest known one comes from a replica that has lost the lease.
   */
  readonly epoch: bigint;
  /** How long the lease lasts after a renewal, in milliseconds. At least 1,000. */
  readonly ttlMs: number;
}

/** The result of a try to get the lease. */
export type Attempt<G extends Grant> =
  | { readonly grant: G }
  | {
      /** The name that the holder gave; empty when unknown. */
      readonly holder: string;
      /** Where a wait for the end of this lease starts, in the service's own terms. */
      readonly revision: string;
    };

/**
 * The lease in a coordination service. Every method ends soon after its signal fires, and rejects
 * with a StewardError (`upstream`) when the service cannot be reached.
 */
export interface LeaseStore<G extends Grant = Grant> extends Disposable {
  /**
   * Takes the lease if nobody holds it. A try with an unknown outcome leaves at most a lease that
   * ends with its time.
   */
  acquire(signal: AbortSignal): Promise<Attempt<G>>;
  /** Whether the lease is still this replica's; if so it lasts its whole time again. */
  renew(grant: G, signal: AbortSignal): Promise<boolean>;
  /** Gives the lease back, so that another replica can take it at once. */
  release(grant: G, signal: AbortSignal): Promise<void>;
  /** Resolves when the lease may be free, or when it is not worth waiting any longer. */
  untilFree(revision: string, signal: AbortSignal): Promise<void>;
  /** The text that a holder kept last; undefined before the first. */
  positions(signal: AbortSignal): Promise<string | undefined>;
  /**
   * Keeps a text of at most 64 KiB for the next holder, if the lease is still this replica's: false
   * if it is not.
   */
  keepPositions(grant: G, text: string, signal: AbortSignal): Promise<boolean>;
}
