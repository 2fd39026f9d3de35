/**
 * Intents and orphans. An intent is written before something may be created externally; it becomes
 * a lease, is dropped, or becomes an orphan, which is listed until the latest possible expiry.
 */
import { StewardError, toStewardError } from "../../../kernel/base/errors.ts";
import type { Log } from "../../../kernel/base/log.ts";
import type { Due } from "../../../kernel/state/due.ts";
import type { Env, Tx } from "../../../kernel/state/types.ts";
import type { IntentRow } from "../../../gen/steward/state/v1/tokens_leases_pb.ts";
import type { ExpiryClock } from "../expiry/expiry-clock.ts";
import type { Data } from "../../logical/types.ts";
import type { Intent, Leases, Orphan } from "../types.ts";
import { MAX_PATH_LENGTH } from "./transitions.ts";
import { intentRow, orphanInfo, orphanRow } from "./rows.ts";
import { intents, leases, orphans } from "./tables.ts";
import { orphanTimer } from "./timers.ts";

/**
 * How long after its request began an unknown token may still be good: the platform gives tokens an
 * hour from its own answer, and the answer may come as late as the longest request (90 s); the
 * platform's clock may differ from ours by minutes.
 */
export const ORPHAN_LIFE_MS = 3_600_000 + 600_000;
/** Rows that one change turns over, and bytes after which it takes no further one. */
const CHUNK = 64;
const CHUNK_BYTES = 2 ** 19;
/** A list of orphans gives way to other work after this time. */
const SLICE_MS = 5;

export interface RecordDeps {
  readonly env: Env;
  readonly due: Due;
  readonly clock: ExpiryClock;
  readonly log: Log;
  readonly orphanLifeMs: number;
}

/** Intents and orphans. */
export interface Records extends Pick<Leases, "intend" | "drop" | "orphan"> {
  /** So many; read with turns for other work. */
  orphans(count: number, signal: AbortSignal): Promise<readonly Orphan[]>;
  /** Every intent is one that a crash left: they become orphans. Gives how many there were. */
  recover(): Promise<number>;
  /** Inside the change that registers a lease. */
  fulfil(tx: Tx, intent: Intent): void;
  /** Removes orphans whose time is over. */
  expire(tx: Tx, requestIds: readonly string[]): void;
}

/** The records of an environment. */
export function createRecords({ env, due, clock, log, orphanLifeMs }: RecordDeps): Records {
  const leave = (
    tx: Tx,
    requestId: string,
    intent: IntentRow,
    rest: { reason: string; about?: Data },
  ): void => {
    const untilMs = intent.beganAtMs + orphanLifeMs;
    tx.delete(intents, requestId);
    tx.put(orphans, requestId, orphanRow(intent, { ...rest, untilMs }));
    due.set(tx, orphanTimer(requestId), untilMs);
  };
  return {
    async intend({ requestId, ...request }) {
      if (!request.path.isWellFormed() || Buffer.byteLength(request.path) > MAX_PATH_LENGTH) {
        throw new StewardError(
          "invalid",
          `a lease cannot have a path of more than ${MAX_PATH_LENGTH} bytes`,
          { rule: "path length", remedy: "use a shorter path" },
        );
      }
      const row = intentRow(request, clock.now());
      await env.write((tx) => {
        if (tx.count(leases) >= leases.limit.rows)
          throw new StewardError(
            "disk_full",
            `there are ${leases.limit.rows} leases, the maximum`,
            { rule: "lease limit", remedy: "wait until some expire, or revoke them" },
          );
        // Each intent may become an orphan, at the latest at the next start.
        if (tx.count(intents) + tx.count(orphans) >= orphans.limit.rows)
          throw new StewardError(
            "disk_full",
            `${orphans.limit.rows} tokens may exist without a lease, the maximum`,
            {
              rule: "orphan limit",
              remedy:
                "find out why the platform's responses are unclear; each is forgotten 70 minutes after its request",
            },
          );
        tx.put(intents, requestId, row);
      });
      return { requestId };
    },
    drop({ requestId }) {
      env
        .write((tx) => tx.delete(intents, requestId), { urgent: true })
        .catch((thrown: unknown) => {
          log.warn(
            "cannot remove the record of a request that minted nothing; it is listed as an orphan after the next start",
            { error: toStewardError(thrown), request_id: requestId },
          );
        });
    },
    orphan: ({ requestId }, reason, about) =>
      env.write(
        (tx) => {
          const intent = tx.get(intents, requestId);
          if (intent !== undefined) leave(tx, requestId, intent, { reason, about });
        },
        { urgent: true },
      ),
    async orphans(count, signal) {
      const found: Orphan[] = [];
      await env.scan(
        orphans,
        (rows) => {
          for (const [requestId, row] of rows) found.push(orphanInfo(requestId, row, clock));
        },
        { sliceMs: SLICE_MS, signal, bounds: { limit: count } },
      );
      return found;
    },
    async recover() {
      let left = 0;
      for (let chunk = CHUNK; chunk > 0; left += chunk) {
        chunk = await env.write(
          (tx) => {
            let [rows, bytes] = [0, 0];
            for (const [requestId, intent] of tx.range(intents, { limit: CHUNK })) {
              leave(tx, requestId, intent, { reason: "crash" });
              rows += 1;
              bytes += Buffer.byteLength(intent.aboutJson);
              if (bytes >= CHUNK_BYTES) break;
            }
            return rows;
          },
          { urgent: true },
        );
      }
      return left;
    },
    fulfil(tx, { requestId }) {
      // A request that outlived a seal finds its intent counted among those of a crash.
      if (!tx.delete(intents, requestId) && tx.delete(orphans, requestId))
        due.clear(tx, orphanTimer(requestId));
    },
    expire(tx, requestIds) {
      for (const requestId of requestIds)
        if (due.take(tx, orphanTimer(requestId))) tx.delete(orphans, requestId);
    },
  };
}
