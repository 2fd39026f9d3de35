/**
 * Revokes leases: calls the backends of those whose tokens have no other lease, and stores the
 * outcomes, one transaction per batch, which succeeds even on a full disk.
 */
import { StewardError } from "../../../kernel/base/errors.ts";
import type { Log } from "../../../kernel/base/log.ts";
import type { Env } from "../../../kernel/state/types.ts";
import {
  createRevoker,
  failureText,
  type Outcome,
  type Revoker,
  type RevokerDeps,
  type StoredLease,
} from "./revoker.ts";
import type { Shares } from "./shares.ts";
import type { LeaseTransitions } from "./transitions.ts";
import { endOfPrefix } from "./names.ts";
import { endingLeases, leaseIds, leases } from "./tables.ts";

/** Leases of one batch. */
export const BATCH = 16;
/**
 * Concurrent batches of expired leases. With one batch on demand, at most 64 backend calls run at
 * once.
 */
export const PARALLEL = 3;
/** Leases made due in one transaction. */
export const CHUNK = 64;

export interface LeaseRevocationDeps extends Omit<RevokerDeps, "parallel"> {
  readonly env: Env;
  readonly transitions: LeaseTransitions;
  readonly shares: Shares;
  readonly log: Log;
  /** Aborts waiting for backends; those calls count as not made. */
  readonly stopping: () => AbortSignal;
}

/** Leases below a prefix whose row numbers are below `belowSeq`. */
export interface LeasePrefix {
  readonly prefix: string;
  readonly belowSeq: number;
}

export interface LeaseRevocation {
  /** Expired leases. A failure is stored and retried later. */
  due(seqs: readonly number[], signal: AbortSignal): Promise<void>;
  /** One lease. On the backend's error the lease stays and the error is thrown. */
  now(lease: StoredLease): Promise<void>;
  /** One lease; resolves when it is durably due. */
  inBackground(lease: StoredLease): Promise<void>;
  /** One lease; it is removed even if the backend fails, which is logged. */
  forceOne(lease: StoredLease): Promise<void>;
  /** In the order of their ids; throws at the end of the first batch with an error in it. */
  prefix(below: LeasePrefix): Promise<void>;
  /**
   * Removes the leases even if the backends fail. Once a whole batch times out, the remaining ones
   * are removed without a call. Logs how many tokens may still be valid, unless that is expected.
   */
  forcePrefix(
    below: LeasePrefix,
    signal: AbortSignal,
    options?: { readonly expectsFailures: boolean },
  ): Promise<void>;
  /** Resolves when all are durably due. */
  prefixInBackground(below: LeasePrefix, signal: AbortSignal): Promise<void>;
  /** Expired leases being revoked, beside those in `endingLeases`. */
  running(): number;
}

export function createLeaseRevocation(deps: LeaseRevocationDeps): LeaseRevocation {
  const { transitions, env } = deps;
  const timed = createRevoker({ ...deps, parallel: BATCH * PARALLEL });
  const onDemand = createRevoker({ ...deps, parallel: BATCH });
  let running = 0;
  const end = async (
    batch: readonly StoredLease[],
    options: { revoker: Revoker; signal: AbortSignal; failed: "retry" | "keep" | "drop" },
  ): Promise<readonly Outcome[]> => {
    const { removed, last } = await deps.shares.release(batch);
    const outcomes = await options.revoker(last, options.signal);
    if (outcomes.length > 0)
      await env.write(
        (tx) => {
          for (const outcome of outcomes) {
            if (
              outcome.result === "revoked" ||
              (outcome.result === "failed" && options.failed === "drop")
            )
              transitions.remove(tx, outcome.seq);
            else if (outcome.result === "failed" && options.failed === "retry")
              transitions.fail(tx, outcome.seq, failureText(outcome.error));
          }
        },
        { urgent: true },
      );
    return [...removed.map((lease): Outcome => ({ ...lease, result: "revoked" })), ...outcomes];
  };
  return {
    running: () => running,
    async due(seqs, signal) {
      const { batch, gone, fresh } = env.read((snapshot) => {
        const found = seqs.flatMap((seq): StoredLease[] => {
          const row = snapshot.get(leases, seq);
          return row === undefined ? [] : [{ seq, row }];
        });
        return {
          batch: found,
          gone: seqs.length > found.length,
          fresh: found.filter(({ seq }) => snapshot.get(endingLeases, seq) === undefined).length,
        };
      });
      running += fresh;
      try {
        await end(batch, { revoker: timed, signal, failed: "retry" });
        if (gone)
          await env.write(
            (tx) =>
              seqs
                .filter((seq) => tx.get(leases, seq) === undefined)
                .forEach((seq) => void transitions.remove(tx, seq)),
            { urgent: true },
          );
      } finally {
        running -= fresh;
      }
    },
    async now(lease) {
      raise(await end([lease], { revoker: onDemand, signal: deps.stopping(), failed: "keep" }));
    },
    inBackground: ({ seq }) =>
      env.write(
        (tx) => {
          if (tx.get(leases, seq) !== undefined) transitions.end(tx, seq);
        },
        { urgent: true },
      ),
    async forceOne(lease) {
      const outcomes = await end([lease], {
        revoker: onDemand,
        signal: deps.stopping(),
        failed: "drop",
      });
      warnUnconfirmed(deps.log, lease.row.id, { failed: failures(outcomes), notCalled: 0 });
    },
    async prefix(below) {
      const signal = deps.stopping();
      for (const batch of batchesBelow(env, below, BATCH))
        raise(
          await end(rowsOf(env, batch), { revoker: onDemand, signal, failed: "keep" }),
          "named",
        );
    },
    async forcePrefix(below, signal, options) {
      const unconfirmed = { failed: 0, notCalled: 0 };
      let callsBackends = true;
      try {
        for (const batch of batchesBelow(env, below, BATCH)) {
          if (signal.aborted) return;
          if (!callsBackends) {
            unconfirmed.notCalled += await env.write(
              (tx) => batch.filter((seq) => transitions.remove(tx, seq)).length,
              { urgent: true },
            );
            continue;
          }
          const outcomes = await end(rowsOf(env, batch), {
            revoker: onDemand,
            signal,
            failed: "drop",
          });
          unconfirmed.failed += failures(outcomes);
          callsBackends =
            outcomes.length === 0 ||
            outcomes.some(
              (outcome) => outcome.result !== "failed" || outcome.error.code !== "deadline",
            );
        }
      } finally {
        if (options?.expectsFailures !== true) warnUnconfirmed(deps.log, below.prefix, unconfirmed);
      }
    },
    async prefixInBackground(below, signal) {
      for (const batch of batchesBelow(env, below, CHUNK)) {
        if (signal.aborted) return;
        await env.write(
          (tx) => {
            for (const seq of batch)
              if (tx.get(leases, seq) !== undefined) transitions.end(tx, seq);
          },
          { urgent: true },
        );
      }
    },
  };
}

/** Row numbers in batches, each read on demand, so that none repeats and nothing is held. */
function* batchesBelow(
  env: Env,
  { prefix, belowSeq }: LeasePrefix,
  size: number,
): Generator<readonly number[]> {
  const end = endOfPrefix(prefix);
  let start: string | undefined = prefix;
  while (start !== undefined) {
    const from: string = start;
    const found = env.read((snapshot) => [
      ...snapshot.range(leaseIds, {
        start: [from],
        ...(end === undefined ? {} : { end: [end] }),
        limit: size,
      }),
    ]);
    start = found.length < size ? undefined : `${found.at(-1)?.[0] ?? ""}\0`;
    const seqs = found.map(([, seq]) => seq).filter((seq) => seq < belowSeq);
    if (seqs.length > 0) yield seqs;
  }
}

function rowsOf(env: Env, seqs: readonly number[]): StoredLease[] {
  return env.read((snapshot) =>
    seqs.flatMap((seq): StoredLease[] => {
      const row = snapshot.get(leases, seq);
      return row === undefined ? [] : [{ seq, row }];
    }),
  );
}

function failures(outcomes: readonly Outcome[]): number {
  return outcomes.filter(({ result }) => result === "failed").length;
}

/** Nothing lists these tokens any more. */
function warnUnconfirmed(
  log: Log,
  path: string,
  { failed, notCalled }: { readonly failed: number; readonly notCalled: number },
): void {
  if (failed + notCalled === 0) return;
  // The log drops equal lines of five minutes: number and path make those of two removals differ.
  log.warn(
    `leases removed by force whose tokens the platform did not confirm as revoked: ${failed + notCalled}; those are valid until they expire; if one may have leaked, suspend the app's installation at the platform`,
    { path, revocation_failed: failed, revocation_not_attempted: notCalled },
  );
}

function raise(outcomes: readonly Outcome[], named?: "named"): void {
  for (const outcome of outcomes) {
    if (outcome.result === "stopped")
      throw new StewardError(
        "not_ready",
        "Steward is stopping; the lease is kept and revoked later",
        { retryAfterMs: 5_000 },
      );
    if (outcome.result !== "failed") continue;
    const { error } = outcome;
    if (named === undefined) throw error;
    throw new StewardError(error.code, `failed to revoke "${outcome.row.id}": ${error.message}`, {
      rule: "revocation",
      remedy: error.remedy ?? "try again, or force it",
      cause: error,
    });
  }
}
