/**
 * Tokens that several leases hold. The rows say who holds a token, so a crash loses no holder and
 * revokes no token under another. Which tokens may get further leases is known in memory alone:
 * after a start none may.
 */
import type { Env, Tx } from "../../../kernel/state/types.ts";
import type { StoredLease } from "./revoker.ts";
import { leases, leaseShares } from "./tables.ts";
import type { LeaseTransitions } from "./transitions.ts";

/** Tokens that may get further leases. The oldest are closed; their requests mint anew. */
const MAX_OPEN = 10_000;

export interface Shares {
  /** From here on the token may get further leases. `path` is the request that minted it. */
  open(share: string, path: string): void;
  isOpen(share: string): boolean;
  /** Tokens minted by requests below a prefix get no further leases. */
  close(prefix: string): void;
  /** A lease of the token is on its way to its row. Call before anything else can run. */
  join(share: string, stored: Promise<void>): void;
  /**
   * Removes the leases whose tokens have other holders, durably. The rest must be revoked by their
   * backends: those of one holder, whose tokens get no further leases from here on.
   */
  release(batch: readonly StoredLease[]): Promise<Released>;
  /** Whether a token without a row for its lease has no other holder; then it gets none. */
  abandon(share: string): Promise<boolean>;
}

interface Released {
  readonly removed: readonly StoredLease[];
  readonly last: readonly StoredLease[];
}

export interface SharesDeps {
  readonly env: Env;
  readonly transitions: LeaseTransitions;
}

export function createShares({ env, transitions }: SharesDeps): Shares {
  /** Paths of the requests that minted them, oldest first. */
  const opened = new Map<string, string>();
  const joining = new Map<string, Promise<void>>();

  /** One look at the batch. `waiting` has what must be settled before the next look. */
  function look(batch: readonly StoredLease[]): Promise<Released & { waiting: Promise<void>[] }> {
    return env.write(
      (tx) => {
        const removed: StoredLease[] = [];
        const last: StoredLease[] = [];
        const waiting: Promise<void>[] = [];
        for (const lease of batch) {
          const { share } = lease.row;
          const joins = joining.get(share);
          if (share === "") last.push(lease);
          else if (tx.get(leases, lease.seq) === undefined || hasOther(tx, lease)) {
            transitions.remove(tx, lease.seq);
            removed.push(lease);
          } else if (joins !== undefined) waiting.push(joins);
          else {
            opened.delete(share);
            last.push(lease);
          }
        }
        return { removed, last, waiting };
      },
      { urgent: true },
    );
  }

  return {
    open(share, path) {
      opened.set(share, path);
      for (const oldest of opened.keys()) {
        if (opened.size <= MAX_OPEN) break;
        opened.delete(oldest);
      }
    },
    isOpen: (share) => opened.has(share),
    close(prefix) {
      for (const [share, path] of opened) if (`${path}/`.startsWith(prefix)) opened.delete(share);
    },
    join(share, stored) {
      const settled = Promise.allSettled([joining.get(share), stored]).then(() => {
        if (joining.get(share) === settled) joining.delete(share);
      });
      joining.set(share, settled);
    },
    async release(batch) {
      if (batch.every(({ row }) => row.share === "")) return { removed: [], last: batch };
      const removed: StoredLease[] = [];
      const last: StoredLease[] = [];
      for (let left = batch; left.length > 0;) {
        const found = await look(left);
        removed.push(...found.removed);
        last.push(...found.last);
        const done = new Set([...found.removed, ...found.last]);
        left = left.filter((lease) => !done.has(lease));
        await Promise.all(found.waiting);
      }
      return { removed, last };
    },
    async abandon(share) {
      for (let joins = joining.get(share); joins !== undefined; joins = joining.get(share))
        await joins;
      const [holder] = env.read((snapshot) => [
        ...snapshot.range(leaseShares, { prefix: [share], limit: 1 }),
      ]);
      if (holder === undefined) opened.delete(share);
      return holder === undefined;
    },
  };
}

function hasOther(tx: Tx, lease: StoredLease): boolean {
  const holders = tx.range(leaseShares, { prefix: [lease.row.share], limit: 2 });
  return Array.from(holders).some(([[, seq]]) => seq !== lease.seq);
}
