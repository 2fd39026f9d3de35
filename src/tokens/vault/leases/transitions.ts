/**
 * State transitions of leases. Each runs inside the caller's transaction, so that rows, indexes and
 * timers change together.
 */
import type { LeaseRow } from "../../../gen/steward/state/v1/tokens_leases_pb.ts";
import type { Due } from "../../../kernel/state/due.ts";
import type { Tx } from "../../../kernel/state/types.ts";
import type { StoredClock } from "../expiry/stored-clock.ts";
import {
  endedTokens,
  endingLeases,
  irrevocableLeases,
  leaseIds,
  leases,
  leaseShares,
  leaseTokens,
} from "./tables.ts";
import { leaseTimer } from "./timers.ts";
import { backoffMs, type Backoff } from "../../../kernel/async/backoff.ts";

/** Failed attempts after which a lease is irrevocable. */
const MAX_ATTEMPTS = 6;
/** The first delay after a failure; doubled with each further one. */
const RETRY: Backoff = { firstMs: 10_000, maxMs: Number.POSITIVE_INFINITY };

export interface LeaseTransitionsDeps {
  readonly due: Due;
  readonly clock: StoredClock;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
}

export interface LeaseTransitions {
  add(tx: Tx, seq: number, row: LeaseRow): void;
  /** Whether it existed. */
  remove(tx: Tx, seq: number): boolean;
  /** Due at once; the attempts of an irrevocable one start from zero. */
  end(tx: Tx, seq: number): void;
  /** After a failed attempt: due again later, or irrevocable after the last one. */
  fail(tx: Tx, seq: number, why: string): void;
  /** An irrevocable lease gets one more attempt. */
  retry(tx: Tx, seq: number): void;
}

export function createLeaseTransitions({
  due,
  clock,
  random,
}: LeaseTransitionsDeps): LeaseTransitions {
  return {
    add(tx, seq, row) {
      tx.put(leases, seq, row);
      tx.put(leaseIds, row.id, seq);
      if (row.tokenId !== "") tx.put(leaseTokens, [row.tokenId, seq], true);
      if (row.share !== "") tx.put(leaseShares, [row.share, seq], true);
      const tokenEnded = row.tokenId !== "" && tx.get(endedTokens, row.tokenId) !== undefined;
      if (tokenEnded) tx.put(endingLeases, seq, true);
      due.set(tx, leaseTimer(seq), tokenEnded ? clock.now() : row.expiresAtMs);
      clock.markIn(tx);
    },
    remove(tx, seq) {
      due.clear(tx, leaseTimer(seq));
      const row = tx.get(leases, seq);
      if (row === undefined) return false;
      tx.delete(leases, seq);
      tx.delete(leaseIds, row.id);
      if (row.tokenId !== "") tx.delete(leaseTokens, [row.tokenId, seq]);
      if (row.share !== "") tx.delete(leaseShares, [row.share, seq]);
      tx.delete(endingLeases, seq);
      tx.delete(irrevocableLeases, seq);
      clock.markIn(tx);
      return true;
    },
    end(tx, seq) {
      if (tx.delete(irrevocableLeases, seq)) {
        const row = tx.get(leases, seq);
        if (row !== undefined) tx.put(leases, seq, { ...row, attempts: 0, failure: "" });
      }
      tx.put(endingLeases, seq, true);
      due.set(tx, leaseTimer(seq), clock.now());
    },
    fail(tx, seq, why) {
      const row = tx.get(leases, seq);
      if (row === undefined) return void due.clear(tx, leaseTimer(seq));
      const attempts = row.attempts + 1;
      tx.put(leases, seq, { ...row, attempts, failure: why });
      if (attempts < MAX_ATTEMPTS) {
        tx.put(endingLeases, seq, true);
        due.set(tx, leaseTimer(seq), clock.now() + backoffMs(attempts, RETRY) * (0.5 + random()));
        return;
      }
      due.clear(tx, leaseTimer(seq));
      tx.delete(endingLeases, seq);
      tx.put(irrevocableLeases, seq, true);
    },
    retry(tx, seq) {
      if (!tx.delete(irrevocableLeases, seq)) return;
      tx.put(endingLeases, seq, true);
      due.set(tx, leaseTimer(seq), clock.now());
    },
  };
}

/** Maximum length of a lease's request path, in bytes. */
export const MAX_PATH_LENGTH = 1_400;

/** Whether text can be a lease id at all; callers may ask for anything. */
export function isKey(id: string): boolean {
  return id.isWellFormed() && Buffer.byteLength(id) <= MAX_PATH_LENGTH + 100;
}
