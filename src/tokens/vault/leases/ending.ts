/**
 * Ends leases: calls their backends and stores the outcomes, one transaction per batch, which
 * succeeds even on a full disk.
 */
import { StewardError } from "../../../kernel/base/errors.ts";
import type { Env } from "../../../kernel/state/types.ts";
import {
  createRevoker,
  failureText,
  type Outcome,
  type Revoker,
  type RevokerDeps,
  type StoredLease,
} from "./revoker.ts";
import type { Book } from "./book.ts";
import { endOfPrefix } from "./names.ts";
import { endingLeases, leaseIds, leases } from "./tables.ts";

/** Leases that are ended together. */
export const BATCH = 16;
/**
 * Concurrent batches of expired leases. With one batch on demand, at most 64 backend calls run at
 * once.
 */
export const PARALLEL = 3;
/** Leases that become due in one change. */
export const CHUNK = 64;

export interface EndingDeps extends Omit<RevokerDeps, "parallel"> {
  readonly env: Env;
  readonly book: Book;
  /** Aborts waiting for backends; those calls count as not made. */
  readonly stopping: () => AbortSignal;
}

/** Leases below a prefix that were there before a row number. */
export interface Below {
  readonly prefix: string;
  readonly belowSeq: number;
}

/** Ways to end leases. */
export interface Ending {
  /** Those whose time has come; a failure is written down and tried again. */
  due(seqs: readonly number[], signal: AbortSignal): Promise<void>;
  /** At once; on the backend's error the lease stays and the error is thrown. */
  now(lease: StoredLease): Promise<void>;
  /** In the background, from now on. */
  soon(lease: StoredLease): Promise<void>;
  /** Now, even if the backend fails. */
  forceOne(lease: StoredLease): Promise<void>;
  /** Now, in the order of their ids; throws at the end of the first batch with an error in it. */
  belowNow(below: Below): Promise<void>;
  /** Even if the backends fail. Once a whole batch times out, the remaining ones are not called. */
  force(below: Below, signal: AbortSignal): Promise<void>;
  /** Makes them due in the background. */
  makeDue(below: Below, signal: AbortSignal): Promise<void>;
  /** Leases whose time has come and that are being ended, beside those in `endingLeases`. */
  running(): number;
}

/** Ends the leases of an environment. */
export function createEnding(deps: EndingDeps): Ending {
  const { book, env } = deps;
  const timed = createRevoker({ ...deps, parallel: BATCH * PARALLEL });
  const onDemand = createRevoker({ ...deps, parallel: BATCH });
  let running = 0;
  const end = async (
    batch: readonly StoredLease[],
    options: { revoker: Revoker; signal: AbortSignal; failed: "retry" | "keep" | "drop" },
  ): Promise<readonly Outcome[]> => {
    const outcomes = await options.revoker(batch, options.signal);
    await env.write(
      (tx) => {
        for (const outcome of outcomes) {
          if (
            outcome.result === "revoked" ||
            (outcome.result === "failed" && options.failed === "drop")
          )
            book.remove(tx, outcome.seq);
          else if (outcome.result === "failed" && options.failed === "retry")
            book.fail(tx, outcome.seq, failureText(outcome.error));
        }
      },
      { urgent: true },
    );
    return outcomes;
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
                .forEach((seq) => void book.remove(tx, seq)),
            { urgent: true },
          );
      } finally {
        running -= fresh;
      }
    },
    async now(lease) {
      raise(await end([lease], { revoker: onDemand, signal: deps.stopping(), failed: "keep" }));
    },
    soon: ({ seq }) =>
      env.write(
        (tx) => {
          if (tx.get(leases, seq) !== undefined) book.end(tx, seq);
        },
        { urgent: true },
      ),
    async forceOne(lease) {
      await end([lease], { revoker: onDemand, signal: deps.stopping(), failed: "drop" });
    },
    async belowNow(below) {
      const signal = deps.stopping();
      for (const batch of batchesBelow(env, below, BATCH))
        raise(
          await end(rowsOf(env, batch), { revoker: onDemand, signal, failed: "keep" }),
          "named",
        );
    },
    async force(below, signal) {
      let asks = true;
      for (const batch of batchesBelow(env, below, BATCH)) {
        if (signal.aborted) return;
        if (!asks) {
          await env.write((tx) => batch.forEach((seq) => void book.remove(tx, seq)), {
            urgent: true,
          });
          continue;
        }
        const outcomes = await end(rowsOf(env, batch), {
          revoker: onDemand,
          signal,
          failed: "drop",
        });
        asks =
          outcomes.length === 0 ||
          outcomes.some(
            (outcome) => outcome.result !== "failed" || outcome.error.code !== "deadline",
          );
      }
    },
    async makeDue(below, signal) {
      for (const batch of batchesBelow(env, below, CHUNK)) {
        if (signal.aborted) return;
        await env.write(
          (tx) => {
            for (const seq of batch) if (tx.get(leases, seq) !== undefined) book.end(tx, seq);
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
  { prefix, belowSeq }: Below,
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
