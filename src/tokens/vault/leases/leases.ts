/**
 * The leases: what was given out, until when, and its end. A request that may make something is recorded before it does; a lease
 * replaces that record in one change; at its time, or when somebody says so, its backend is asked to revoke it, again and again,
 * and what stays refused stays in sight (KERNEL §4, facts §1.6).
 */
import { withoutEnd } from "../../../kernel/base/ends.ts";
import type { Clock } from "../../../kernel/base/clock.ts";
import { assert, StewardError, toStewardError } from "../../../kernel/base/errors.ts";
import type { Ids } from "../../../kernel/base/ids.ts";
import type { Log } from "../../../kernel/base/log.ts";
import { createDue } from "../../../kernel/state/due.ts";
import type { Env, Snapshot } from "../../../kernel/state/types.ts";
import type { LeaseInfo, Leases, RevokeBackend } from "../types.ts";
import { createBook, isKey } from "./book.ts";
import { BATCH, CHUNK, createEnding, PARALLEL } from "./ending.ts";
import { createLeaseClock } from "./lease-clock.ts";
import { namesBelow } from "./names.ts";
import { createRecords, ORPHAN_LIFE_MS } from "./records.ts";
import { REVOKE_DEADLINE_MS, type StoredLease } from "./revoker.ts";
import { leaseInfo, leaseName, leaseRow } from "./rows.ts";
import { createSweeps } from "./sweeps.ts";
import { endingLeases, irrevocableLeases, LEASE_TIMERS, leaseClockRow, leaseIds, leases, orphans } from "./tables.ts";
import { parseTimer } from "./timers.ts";

/** The clock is looked at this often, and marked when it was set or the mark is older than the other. */
const LOOK_EVERY_MS = 10_000;
const MARK_EVERY_MS = 60_000;

/** What leases work with. The environment holds `leaseTables`. */
export interface LeasesDeps {
  readonly env: Env;
  readonly clock: Clock;
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
   * Takes up what an earlier process left and begins to end leases at their times; the environment is unsealed by then and no
   * request is under way. Before it nothing else but `counts` may be called. May be started again after `stop`.
   */
  start(): Promise<void>;
  /** Ends nothing any more; what is due stays due. Works without start, and twice. */
  stop(deadlineMs: number): Promise<void>;
  /** Why leases do not end as they should. */
  health(): { readonly ok: boolean; readonly reason?: string };
}

/** The leases of an environment. */
export function createLeases(deps: LeasesDeps, options: LeasesOptions = {}): LeasesService {
  const { env, ids } = deps;
  const log = deps.log.child("leases");
  const clock = createLeaseClock(deps.clock);
  const due = createDue({ env, clock, log }, LEASE_TIMERS.name, LEASE_TIMERS.rows);
  const book = createBook({ due, clock, random: () => Buffer.from(ids.bytes(4)).readUInt32LE() / 2 ** 32 });
  const records = createRecords({ env, due, clock, log, orphanLifeMs: options.orphanLifeMs ?? ORPHAN_LIFE_MS });
  let stop = new AbortController();
  let nextSeq: number | undefined;
  let marking: Disposable | undefined;
  const ending = createEnding({ env, book, clock, revoke: deps.revoke, deadlineMs: options.revokeDeadlineMs ?? REVOKE_DEADLINE_MS, stopping: () => stop.signal });
  const sweeps = createSweeps({ env, book, due, clock, ending });
  const runner = due.run(async (timerIds, signal) => {
    const timers = timerIds.map(parseTimer);
    const requestIds = timers.flatMap((timer) => (timer.kind === "orphan" ? [timer.requestId] : []));
    await ending.due(timers.flatMap((timer) => (timer.kind === "lease" ? [timer.seq] : [])), signal);
    if (requestIds.length > 0) await env.write((tx) => records.expire(tx, requestIds), { urgent: true });
    for (const timer of timers) await sweeps.run(timer, signal);
  }, { batch: BATCH, parallel: PARALLEL });

  const markLater = (): void => {
    marking = clock.timer(clock.monotonic() + LOOK_EVERY_MS, () => {
      markLater();
      if (!book.isMarkDue(MARK_EVERY_MS) || env.read((snapshot) => snapshot.count(leases)) === 0) return;
      env.write((tx) => book.mark(tx), { urgent: true }).catch((thrown: unknown) => log.warn("the clock of leases could not be marked", { error: toStewardError(thrown) }));
    });
  };
  const seqAfterAll = (): number => {
    assert(nextSeq !== undefined, "the leases were started");
    return nextSeq;
  };
  const find = (id: string): StoredLease | undefined => env.read((snapshot) => {
    const seq = isKey(id) ? snapshot.get(leaseIds, id) : undefined;
    const row = seq === undefined ? undefined : snapshot.get(leases, seq);
    return seq === undefined || row === undefined ? undefined : { seq, row };
  });
  const infoOf = ({ seq, row }: StoredLease): LeaseInfo => leaseInfo(row, clock, env.read((snapshot) => snapshot.get(irrevocableLeases, seq) !== undefined));
  const countIn = (snapshot: Snapshot): ReturnType<Leases["counts"]> => ({
    leases: snapshot.count(leases), irrevocable: snapshot.count(irrevocableLeases), orphans: snapshot.count(orphans), due: snapshot.count(endingLeases) + ending.running(),
  });

  return {
    intend: (request) => records.intend(request),
    drop: (intent) => records.drop(intent),
    orphan: (intent, reason, about) => records.orphan(intent, reason, about),
    orphans: () => records.orphans(),
    register(spec) {
      const seq = seqAfterAll();
      nextSeq = seq + 1;
      const nowMs = clock.now();
      const row = leaseRow(spec, `${withoutEnd(spec.path, "/")}/${leaseName(ids, nowMs)}`, { nowMs, expiresAtMs: Math.floor(nowMs + spec.ttlMs) });
      const stored = env.write((tx) => {
        book.add(tx, seq, row);
        if (spec.intent !== undefined) records.fulfil(tx, spec.intent);
      });
      return { info: leaseInfo(row, clock, false), stored };
    },
    lookup(id) {
      const found = find(id);
      return found && infoOf(found);
    },
    list: async (prefix) => (isKey(prefix) ? await namesBelow(env, asPrefix(prefix)) : []),
    async revoke(id, { sync }) {
      const found = find(id);
      if (found !== undefined) await (sync ? ending.now(found) : ending.soon(found));
    },
    async revokePrefix(given, { sync, force }) {
      if (!isKey(given)) return;
      const one = given.endsWith("/") ? undefined : find(given);
      if (one !== undefined) return await (force ? ending.forceOne(one) : sync ? ending.now(one) : ending.soon(one));
      const below = { prefix: asPrefix(given), belowSeq: seqAfterAll() };
      if (!sync) return await sweeps.order(below, force);
      await (force ? ending.force(below, stop.signal) : ending.belowNow(below));
    },
    endToken: (tx, tokenKey) => sweeps.endToken(tx, tokenKey),
    irrevocable: () => {
      const stored = env.read((snapshot) => Array.from(snapshot.range(irrevocableLeases)).flatMap(([seq]): StoredLease[] => {
        const row = snapshot.get(leases, seq);
        return row === undefined ? [] : [{ seq, row }];
      }));
      return stored.map(({ row }) => leaseInfo(row, clock, true));
    },
    counts: (snapshot) => (snapshot === undefined ? env.read(countIn) : countIn(snapshot)),
    async tidy() {
      for (let from = 0, seqs = [0]; seqs.length > 0; from = (seqs.at(-1) ?? 0) + 1) {
        seqs = await env.write((tx) => {
          const chunk = Array.from(tx.range(irrevocableLeases, { start: [from], limit: CHUNK }), ([seq]) => seq);
          for (const seq of chunk) book.retry(tx, seq);
          return chunk;
        }, { urgent: true });
      }
    },
    async start() {
      stop = new AbortController();
      const { mark, last } = env.read((snapshot) => ({ mark: snapshot.get(leaseClockRow, ""), last: [...snapshot.range(leases, { reverse: true, limit: 1 })][0]?.[0] ?? 0 }));
      if (mark !== undefined) clock.resume(mark);
      nextSeq = Math.max(nextSeq ?? 0, last + 1);
      const left = await records.recover();
      if (left > 0) log.warn("requests that were under way when Steward ended may have made tokens that nobody has: they are shown as orphans until the last of them has expired", { orphans: left });
      await runner.start(stop.signal, () => {});
      markLater();
    },
    async stop(deadlineMs) {
      marking?.[Symbol.dispose]();
      marking = undefined;
      stop.abort(new StewardError("cancelled", "the leases stop"));
      await runner.stop(deadlineMs);
    },
    health: () => runner.health?.() ?? { ok: true },
  };
}

function asPrefix(text: string): string {
  return text === "" || text.endsWith("/") ? text : `${text}/`;
}
