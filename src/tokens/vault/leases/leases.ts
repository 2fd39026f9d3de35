/**
 * Leases: creation, expiry, revocation. A request that may create something is recorded first; a
 * lease replaces that record in one transaction; at expiry or on request its backend revokes it,
 * with retries, and leases that cannot be revoked stay visible.
 */
import { withoutEnd } from "../../../kernel/base/text/ends.ts";
import { assert, StewardError } from "../../../kernel/base/errors.ts";
import type { Ids } from "../../../kernel/base/ids.ts";
import type { Log } from "../../../kernel/base/log.ts";
import { nextTurn } from "../../../kernel/async/turns.ts";
import { createDue } from "../../../kernel/state/due.ts";
import type { Env, Snapshot } from "../../../kernel/state/types.ts";
import type { StoredClock } from "../expiry/stored-clock.ts";
import type { LeaseInfo, Leases, RevokeBackend } from "../types.ts";
import { createLeaseTransitions, isKey } from "./transitions.ts";
import { BATCH, CHUNK, createLeaseRevocation, PARALLEL } from "./revocation.ts";
import { namesBelow } from "./names.ts";
import { createRecords, ORPHAN_LIFE_MS } from "./records.ts";
import { REVOKE_DEADLINE_MS, type StoredLease } from "./revoker.ts";
import { hashedToken, leaseInfo, leaseName, leaseRow } from "./rows.ts";
import { createShares } from "./shares.ts";
import { createSweeps } from "./sweeps.ts";
import {
  endingLeases,
  irrevocableLeases,
  LEASE_TIMERS,
  leaseIds,
  leases,
  orphans,
} from "./tables.ts";
import { parseTimer } from "./timers.ts";

/** The environment holds `leaseTables`. */
export interface LeasesDeps {
  readonly env: Env;
  readonly clock: StoredClock;
  readonly ids: Ids;
  readonly log: Log;
  readonly revoke: RevokeBackend;
}

/** Times that differ from the usual. */
export interface LeasesOptions {
  /** How long an orphan is shown; `ORPHAN_LIFE_MS`. */
  readonly orphanLifeMs?: number;
  /** How long a backend may take to revoke; `REVOKE_DEADLINE_MS`. */
  readonly revokeDeadlineMs?: number;
}

/** The leases with a life of their own. */
export interface LeasesService extends Leases {
  /**
   * Takes up what an earlier process left and begins to end leases at their times; the environment
   * is unsealed by then and no request is under way. Before it nothing else but `counts` may be
   * called. May be started again after `stop`.
   */
  start(): Promise<void>;
  /** Ends nothing any more; what is due stays due. Works without start, and twice. */
  stop(deadlineMs: number): Promise<void>;
  /** Why leases do not end as they should. */
  health(): { readonly ok: boolean; readonly reason?: string };
}

/** The leases of an environment. */
export function createLeases(deps: LeasesDeps, options: LeasesOptions = {}): LeasesService {
  const { clock, env, ids } = deps;
  const log = deps.log.child("leases");
  const due = createDue({ env, clock, log }, LEASE_TIMERS.name, LEASE_TIMERS.rows);
  const transitions = createLeaseTransitions({
    due,
    clock,
    random: () => Buffer.from(ids.bytes(4)).readUInt32LE() / 2 ** 32,
  });
  const records = createRecords({
    env,
    due,
    clock,
    log,
    orphanLifeMs: options.orphanLifeMs ?? ORPHAN_LIFE_MS,
  });
  const shares = createShares({ env, transitions });
  let stop = new AbortController();
  let nextSeq: number | undefined;
  const revocation = createLeaseRevocation({
    env,
    transitions,
    shares,
    log,
    clock,
    revoke: deps.revoke,
    deadlineMs: options.revokeDeadlineMs ?? REVOKE_DEADLINE_MS,
    stopping: () => stop.signal,
  });
  const sweeps = createSweeps({ env, transitions, due, clock, revocation });
  const runner = due.run(
    async (timerIds, signal) => {
      const timers = timerIds.map(parseTimer);
      const requestIds = timers.flatMap((timer) =>
        timer.kind === "orphan" ? [timer.requestId] : [],
      );
      await revocation.due(
        timers.flatMap((timer) => (timer.kind === "lease" ? [timer.seq] : [])),
        signal,
      );
      if (requestIds.length > 0)
        await env.write((tx) => records.expire(tx, requestIds), { urgent: true });
      for (const timer of timers) await sweeps.run(timer, signal);
    },
    { batch: BATCH, parallel: PARALLEL },
  );

  const seqAfterAll = (): number => {
    assert(nextSeq !== undefined, "the leases were started");
    return nextSeq;
  };
  const find = (id: string): StoredLease | undefined =>
    env.read((snapshot) => {
      const seq = isKey(id) ? snapshot.get(leaseIds, id) : undefined;
      const row = seq === undefined ? undefined : snapshot.get(leases, seq);
      return seq === undefined || row === undefined ? undefined : { seq, row };
    });
  const infoOf = ({ seq, row }: StoredLease): LeaseInfo =>
    leaseInfo(
      row,
      clock,
      env.read((snapshot) => snapshot.get(irrevocableLeases, seq) !== undefined),
    );
  const countIn = (snapshot: Snapshot): ReturnType<Leases["counts"]> => ({
    leases: snapshot.count(leases),
    irrevocable: snapshot.count(irrevocableLeases),
    orphans: snapshot.count(orphans),
    due: snapshot.count(endingLeases) + revocation.running(),
  });

  return {
    intend: (request) => records.intend(request),
    drop: (intent) => records.drop(intent),
    orphan: (intent, reason, about) => records.orphan(intent, reason, about),
    orphans: (count) => records.orphans(count, stop.signal),
    register(spec) {
      const seq = seqAfterAll();
      nextSeq = seq + 1;
      const nowMs = clock.now();
      const row = leaseRow(spec, `${withoutEnd(spec.path, "/")}/${leaseName(ids, nowMs)}`, {
        nowMs,
        expiresAtMs: Math.floor(nowMs + spec.ttlMs),
      });
      const stored = env.write((tx) => {
        transitions.add(tx, seq, row);
        if (spec.intent !== undefined) records.fulfil(tx, spec.intent);
      });
      if (row.share !== "") shares.join(row.share, stored);
      return { info: leaseInfo(row, clock, false), stored };
    },
    lookup(id) {
      const found = find(id);
      return found && infoOf(found);
    },
    list: async (prefix) => (isKey(prefix) ? await namesBelow(env, asPrefix(prefix)) : []),
    async revoke(id, { sync }) {
      const found = find(id);
      if (found !== undefined)
        await (sync ? revocation.now(found) : revocation.inBackground(found));
    },
    async revokePrefix(given, { sync, force, expectsFailures = false }) {
      if (!isKey(given)) return;
      const one = given.endsWith("/") ? undefined : find(given);
      if (one !== undefined)
        return await (force
          ? revocation.forceOne(one)
          : sync
            ? revocation.now(one)
            : revocation.inBackground(one));
      shares.close(asPrefix(given));
      const below = { prefix: asPrefix(given), belowSeq: seqAfterAll() };
      if (!sync) return await sweeps.order(below, force);
      // Registered leases may still be in the write queue, and reads do not see them. This write
      // comes after theirs.
      await env.write(() => undefined, { urgent: true });
      await (force
        ? revocation.forcePrefix(below, stop.signal, { expectsFailures })
        : revocation.prefix(below));
    },
    endIn(tx, id) {
      const seq = isKey(id) ? tx.get(leaseIds, id) : undefined;
      if (seq !== undefined) transitions.end(tx, seq);
    },
    endToken: (tx, tokenKey) => sweeps.endToken(tx, tokenKey),
    async irrevocable(count) {
      const found: LeaseInfo[] = [];
      for (let from = 0; found.length < count;) {
        const stored = env.read((snapshot) =>
          Array.from(
            snapshot.range(irrevocableLeases, {
              start: [from],
              limit: Math.min(CHUNK, count - found.length),
            }),
            ([seq]) => ({ seq, row: snapshot.get(leases, seq) }),
          ),
        );
        for (const { row } of stored)
          if (row !== undefined) found.push(leaseInfo(row, clock, true));
        const last = stored.at(-1);
        if (last === undefined) break;
        from = last.seq + 1;
        await nextTurn();
      }
      return found;
    },
    newest: (count) =>
      env.read((snapshot) =>
        Array.from(snapshot.range(leases, { reverse: true, limit: count }), ([seq, row]) => ({
          ...leaseInfo(row, clock, snapshot.get(irrevocableLeases, seq) !== undefined),
          hashedToken: hashedToken(row),
        })),
      ),
    counts: (snapshot) => (snapshot === undefined ? env.read(countIn) : countIn(snapshot)),
    sharing: {
      open: (share, path) => shares.open(share, path),
      isOpen: (share) => shares.isOpen(share),
      abandon: (share) => shares.abandon(share),
    },
    async tidy() {
      for (let from = 0, seqs = [0]; seqs.length > 0; from = (seqs.at(-1) ?? 0) + 1) {
        seqs = await env.write(
          (tx) => {
            const chunk = Array.from(
              tx.range(irrevocableLeases, { start: [from], limit: CHUNK }),
              ([seq]) => seq,
            );
            for (const seq of chunk) transitions.retry(tx, seq);
            return chunk;
          },
          { urgent: true },
        );
      }
    },
    async start() {
      stop = new AbortController();
      const last = env.read(
        (snapshot) => [...snapshot.range(leases, { reverse: true, limit: 1 })][0]?.[0] ?? 0,
      );
      nextSeq = Math.max(nextSeq ?? 0, last + 1);
      const left = await records.recover();
      if (left > 0)
        log.warn(
          "requests in flight when Steward ended may have minted tokens without a lease: they are listed as orphans until the last of them has expired",
          { orphans: left },
        );
      await runner.start(stop.signal, () => {});
    },
    async stop(deadlineMs) {
      stop.abort(new StewardError("cancelled", "the leases stop"));
      await runner.stop(deadlineMs);
    },
    health: () => runner.health?.() ?? { ok: true },
  };
}

/** A prefix names whole segments, with or without the slash at its end. */
export function asPrefix(text: string): string {
  return text === "" || text.endsWith("/") ? text : `${text}/`;
}
