/** Shares of one attempt: at most as many as its threshold, until they are combined or discarded. */
import type { Ids } from "../../../kernel/base/ids.ts";
import { equalSecrets } from "../../../kernel/base/secret.ts";
import { combineShares } from "./shamir.ts";

export interface ShareProgress {
  readonly count: number;
  /** A UUID, new for each attempt; empty while there is none. */
  readonly nonce: string;
  /** Whether a share was given before. */
  has(share: Uint8Array): boolean;
  /** False for a share that was given before. Takes over the bytes. */
  add(share: Uint8Array): boolean;
  /** What the shares make, whether it is the key or not; undefined when they do not fit together. */
  combined(): Uint8Array | undefined;
  /** Overwrites the shares. */
  reset(): void;
}

/** An attempt that begins with its first share. */
export function createShareProgress(ids: Ids): ShareProgress {
  let shares: Uint8Array[] = [];
  let nonce = "";
  const has = (share: Uint8Array): boolean => shares.some((other) => equalSecrets(other, share));
  return {
    get count() {
      return shares.length;
    },
    get nonce() {
      return nonce;
    },
    has,
    add(share) {
      if (has(share)) {
        share.fill(0);
        return false;
      }
      if (shares.length === 0) nonce = ids.uuid();
      shares.push(share);
      return true;
    },
    combined() {
      const [only] = shares;
      if (shares.length === 1 && only !== undefined) return Uint8Array.from(only);
      try {
        return combineShares(shares);
      } catch {
        return undefined; // shares of different lengths, or two with one coordinate: none is the key
      }
    },
    reset() {
      for (const share of shares) share.fill(0);
      shares = [];
      nonce = "";
    },
  };
}
