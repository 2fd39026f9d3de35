/**
 * Revokes many leases by one small change: the ended token or revoked prefix is stored, however
 * many leases it has, and a timer revokes them in batches. So the change that ends a token stays
 * small, and a crash in between loses nothing.
 */
import { create } from "@bufbuild/protobuf";
import { PrefixSweepRowSchema } from "../../../gen/steward/state/v1/tokens_leases_pb.ts";
import type { Due } from "../../../kernel/state/due.ts";
import type { Env, Tx } from "../../../kernel/state/types.ts";
import type { ExpiryClock } from "../expiry/expiry-clock.ts";
import type { LeaseTransitions } from "./transitions.ts";
import { CHUNK, type LeasePrefix, type LeaseRevocation } from "./revocation.ts";
import {
  endedTokens,
  endingLeases,
  irrevocableLeases,
  leases,
  leaseTokens,
  prefixSweeps,
  tokenId,
} from "./tables.ts";
import { prefixTimer, tokenTimer, type Timer } from "./timers.ts";

/**
 * A request that began before its token ended may register a lease for so long: three times the
 * longest request, and some.
 */
const ENDED_TOKEN_KEPT_MS = 300_000;

export interface SweepsDeps {
  readonly env: Env;
  readonly transitions: LeaseTransitions;
  readonly due: Due;
  readonly clock: ExpiryClock;
  readonly revocation: LeaseRevocation;
}

export interface Sweeps {
  /** Inside the change that ends a token. */
  endToken(tx: Tx, tokenKey: string): void;
  /** Durable when it resolves; the leases end in the background. */
  order(below: LeasePrefix, force: boolean): Promise<void>;
  /** Revokes the leases of the timer's token or prefix. */
  run(timer: Timer, signal: AbortSignal): Promise<void>;
}

/** The sweeps of an environment. */
export function createSweeps({ env, transitions, due, clock, revocation }: SweepsDeps): Sweeps {
  // Each change of the walk ends a piece; the last finds none and moves the timer on.
  const sweepToken = async (id: string, signal: AbortSignal): Promise<void> => {
    const timer = tokenTimer(id);
    for (let from: number | undefined = 0; from !== undefined && !signal.aborted;) {
      const start: number = from;
      // A change may run twice, so it gives where the next begins and changes nothing outside itself.
      from = await env.write(
        (tx) => {
          const forgetAtMs = (tx.get(endedTokens, id) ?? 0) + ENDED_TOKEN_KEPT_MS;
          const isOver = forgetAtMs <= clock.now();
          const seqs = Array.from(
            tx.range(leaseTokens, { prefix: [id], start: [id, start], limit: CHUNK }),
            ([[, seq]]) => seq,
          );
          // The last look, which is the first one after a crash or seal of minutes, keeps the
          // delays between attempts of what it finds ending.
          for (const seq of seqs) if (!isOver || !isEnding(tx, seq)) transitions.end(tx, seq);
          if (seqs.length === CHUNK) return (seqs.at(-1) ?? 0) + 1;
          if (isOver) {
            due.clear(tx, timer);
            tx.delete(endedTokens, id);
            return undefined;
          }
          due.set(tx, timer, forgetAtMs);
          return undefined;
        },
        { urgent: true },
      );
    }
  };
  const sweepPrefix = async (prefix: string, signal: AbortSignal): Promise<void> => {
    const order = env.read((snapshot) => snapshot.get(prefixSweeps, prefix));
    if (order !== undefined) {
      const below = { prefix, belowSeq: Number(order.belowSeq) };
      await (order.force
        ? revocation.forcePrefix(below, signal)
        : revocation.prefixInBackground(below, signal));
    }
    if (signal.aborted) return;
    await env.write(
      (tx) => {
        const now = tx.get(prefixSweeps, prefix);
        if (now?.belowSeq !== order?.belowSeq || now?.force !== order?.force) return; // ordered anew meanwhile: the timer goes off again
        due.clear(tx, prefixTimer(prefix));
        tx.delete(prefixSweeps, prefix);
      },
      { urgent: true },
    );
  };
  return {
    endToken(tx, tokenKey) {
      const id = tokenId(tokenKey);
      const nowMs = clock.now();
      const [first] = tx.range(leaseTokens, { prefix: [id], limit: 1 });
      tx.put(endedTokens, id, nowMs);
      due.set(tx, tokenTimer(id), first === undefined ? nowMs + ENDED_TOKEN_KEPT_MS : nowMs);
    },
    order: ({ prefix, belowSeq }, force) =>
      env.write(
        (tx) => {
          if (tx.count(leases) === 0) return;
          const before = tx.get(prefixSweeps, prefix);
          tx.put(
            prefixSweeps,
            prefix,
            create(PrefixSweepRowSchema, {
              belowSeq: BigInt(belowSeq),
              force: force || before?.force === true,
            }),
          );
          due.set(tx, prefixTimer(prefix), clock.now());
        },
        { urgent: true },
      ),
    async run(timer, signal) {
      if (timer.kind === "token") await sweepToken(timer.tokenId, signal);
      if (timer.kind === "prefix") await sweepPrefix(timer.prefix, signal);
    },
  };
}

/** Being revoked, between two attempts, or given up. */
function isEnding(tx: Tx, seq: number): boolean {
  return tx.get(endingLeases, seq) !== undefined || tx.get(irrevocableLeases, seq) !== undefined;
}
