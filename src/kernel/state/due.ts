/**
 * Durable timers: ids with the wall time at which they are due, ordered on disk. One timer waits
 * for the earliest; due ids are passed to the claim in batches, and each is removed inside the
 * transaction that acts on it.
 */
import { assert, ownMessage, StewardError, toStewardError } from "../base/errors.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Component } from "../supervisor/component.ts";
import { stringKey, tupleKey } from "./keys.ts";
import { defineTable } from "./table.ts";
import type { AnyTable, Env, Snapshot, Table, Tx, ValueCodec } from "./types.ts";
import { waitFor } from "../async/wait.ts";
import { backoffMs, type Backoff } from "../async/backoff.ts";

/** Maximum number of ids per batch. */
const DUE_BATCH = 256;
/** Maximum time between looks at the wall clock, so that a clock step is noticed. */
const LOOK_EVERY_MS = 10_000;
/** Backoff of an id whose claim failed or left it due; doubles each time. */
const RETRY: Backoff = { firstMs: 1_000, maxMs: 60_000 };
/** Maximum number of ids backing off; above it everything waits. */
const MAX_SET_ASIDE = 4_096;

/**
 * Handles due ids. Each is removed with `Due.take`, or moved with `set`, in its own or a shared
 * transaction.
 */
export type Claim = (ids: readonly string[], signal: AbortSignal) => Promise<void>;

export interface Due {
  /** Sets or moves a timer; milliseconds since 1970, fractions truncated. */
  set(tx: Tx, id: string, atMs: number): void;
  /** Removes a timer; false when there was none. */
  clear(tx: Tx, id: string): boolean;
  /** When an id is due; undefined without a timer. */
  at(snapshot: Snapshot, id: string): number | undefined;
  /**
   * True when the id is due now; removes its timer with the transaction. False when it was cleared,
   * moved or taken meanwhile: then do nothing.
   */
  take(tx: Tx, id: string): boolean;
  /**
   * Passes due ids to `claim` while the component runs: batches of `batch` ids (at most 256) in
   * order of time, up to `parallel` at once. Ids that are still due after their claim are retried
   * one by one after 1 s, doubling up to a minute; the others continue.
   */
  run(claim: Claim, options: { readonly batch: number; readonly parallel: number }): Component;
}

/** The environment must contain `dueTables(name)`. */
export interface DueDeps {
  readonly env: Env;
  readonly clock: Clock;
  readonly log: Log;
}

const atCodec: ValueCodec<number> = {
  write(atMs) {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(atMs);
    return bytes;
  },
  read: (bytes) => new DataView(bytes.buffer, bytes.byteOffset, 8).getFloat64(0, true),
};
const emptyCodec: ValueCodec<true> = { write: () => new Uint8Array(0), read: () => true };

interface DueTables {
  readonly byTime: Table<readonly [atMs: number, id: string], true>;
  readonly byId: Table<string, number>;
}

/** The tables of the timers with this name; `rows` is the maximum number of timers. */
export function dueTables(name: string, rows: number): readonly AnyTable[] {
  const { byTime, byId } = tablesOf(name, rows);
  return [byTime, byId] as readonly unknown[] as readonly AnyTable[];
}

export function createDue(deps: DueDeps, name: string, rows: number): Due {
  const tables = tablesOf(name, rows);
  const wakers = new Set<(atMs: number) => void>();
  const clear = (tx: Tx, id: string): boolean => {
    const atMs = tx.get(tables.byId, id);
    if (atMs === undefined) return false;
    tx.delete(tables.byTime, [atMs, id]);
    return tx.delete(tables.byId, id);
  };
  return {
    set(tx, id, atMs) {
      const at = Math.max(0, Math.floor(atMs));
      clear(tx, id);
      tx.put(tables.byTime, [at, id], true);
      tx.put(tables.byId, id, at);
      tx.after(() => {
        for (const wake of wakers) wake(at);
      });
    },
    clear,
    at: (snapshot, id) => snapshot.get(tables.byId, id),
    take: (tx, id) =>
      (tx.get(tables.byId, id) ?? Number.POSITIVE_INFINITY) <= deps.clock.now() && clear(tx, id),
    run(claim, { batch, parallel }) {
      assert(
        batch >= 1 && batch <= DUE_BATCH && parallel >= 1,
        `a batch of timers has 1 to ${DUE_BATCH} ids`,
      );
      return runner({ ...deps, name, claim, batch, parallel, tables, wakers });
    },
  };
}

function tablesOf(name: string, rows: number): DueTables {
  return {
    byTime: defineTable({
      name: `${name}_due`,
      key: tupleKey<readonly [number, string]>(),
      value: emptyCodec,
      limit: { rows },
    }),
    byId: defineTable({ name: `${name}_due_at`, key: stringKey, value: atCodec, limit: { rows } }),
  };
}

interface RunnerDeps extends DueDeps {
  readonly name: string;
  readonly claim: Claim;
  readonly batch: number;
  readonly parallel: number;
  readonly tables: DueTables;
  readonly wakers: Set<(atMs: number) => void>;
}

function runner(deps: RunnerDeps): Component {
  let running: Runner | undefined;
  return {
    name: `due-${deps.name}`,
    needs: [],
    readiness: "reported",
    start() {
      running = new Runner(deps);
      running.look();
      return Promise.resolve();
    },
    async stop(deadlineMs) {
      const stopping = running;
      running = undefined;
      await stopping?.stop(deadlineMs);
    },
    health: () => running?.health() ?? { ok: true },
  };
}

/** One run of the component. */
class Runner {
  readonly #deps: RunnerDeps;
  readonly #stop = new AbortController();
  /** Ids of running claims. */
  readonly #claimed = new Set<string>();
  readonly #claims = new Set<Promise<void>>();
  readonly #wake = (atMs: number): void => {
    if (atMs < this.#armedForMs) this.look();
  };
  /** Failed ids: the monotonic time of the next try, and the failures in a row. */
  readonly #aside = new Map<string, { readonly fromMs: number; readonly failures: number }>();
  #timer: Disposable | undefined;
  /** Wall time for which the timer is set. */
  #armedForMs = Number.POSITIVE_INFINITY;
  /** Monotonic; nothing is claimed before. */
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #trouble: string | undefined;

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
    deps.wakers.add(this.#wake);
  }

  health(): { ok: boolean; reason?: string } {
    return this.#trouble === undefined ? { ok: true } : { ok: false, reason: this.#trouble };
  }

  /** Claims what is due and sets the timer for the next id. */
  look(): void {
    if (this.#stop.signal.aborted) return;
    const { clock } = this.#deps;
    let next = Number.POSITIVE_INFINITY;
    try {
      if (clock.monotonic() >= this.#pausedUntilMs) {
        next = this.#handOver();
        if (this.#aside.size + this.#claims.size === 0) this.#trouble = undefined;
      }
    } catch (error) {
      this.#pause(error);
    }
    this.#arm(next);
  }

  async stop(deadlineMs: number): Promise<void> {
    const { clock, wakers } = this.#deps;
    wakers.delete(this.#wake);
    this.#timer?.[Symbol.dispose]();
    this.#stop.abort();
    await waitFor(Promise.allSettled(this.#claims), { clock, timeoutMs: deadlineMs });
  }

  /**
   * Starts claims for due ids as far as `parallel` allows; returns the wall time of the first id
   * not yet due.
   */
  #handOver(): number {
    const { batch, clock, env, parallel, tables } = this.#deps;
    const now = clock.now();
    let ids: string[] = [];
    const flush = (): void => {
      if (this.#claims.size >= parallel) return;
      this.#claim(ids);
      ids = [];
    };
    return env.read((snapshot) => {
      this.#forgetSettled(snapshot, now);
      for (const [[atMs, id]] of snapshot.range(tables.byTime, {
        limit: this.#claimed.size + this.#aside.size + batch * parallel + 1,
      })) {
        if (atMs > now) {
          flush();
          return atMs;
        }
        if (this.#claims.size >= parallel) return Number.POSITIVE_INFINITY; // a claim that ends looks again
        const aside = this.#aside.get(id);
        if (this.#claimed.has(id) || (aside !== undefined && aside.fromMs > clock.monotonic()))
          continue;
        if (aside !== undefined) this.#claim([id]);
        else if (ids.push(id) === batch) flush();
      }
      flush();
      return Number.POSITIVE_INFINITY;
    });
  }

  /** Drops failed ids that were cleared or moved before their next try. */
  #forgetSettled(snapshot: Snapshot, now: number): void {
    const { clock, tables } = this.#deps;
    for (const [id, { fromMs }] of this.#aside)
      if (
        fromMs <= clock.monotonic() &&
        !this.#claimed.has(id) &&
        !isDue(snapshot, tables, id, now)
      )
        this.#aside.delete(id);
  }

  #claim(ids: readonly string[]): void {
    if (ids.length === 0) return;
    for (const id of ids) this.#claimed.add(id);
    const claim = this.#settle(ids).finally(() => {
      for (const id of ids) this.#claimed.delete(id);
      this.#claims.delete(claim);
      this.look();
    });
    this.#claims.add(claim);
  }

  async #settle(ids: readonly string[]): Promise<void> {
    const { claim, name } = this.#deps;
    try {
      await Promise.resolve(); // not inside the read that found them
      await claim(ids, this.#stop.signal);
      const left = this.#stillDue(ids);
      if (left.size > 0)
        throw new StewardError(
          "internal",
          `${left.size} of ${ids.length} timers of ${name} are still due after they were handed over, e.g. ${[...left][0]}`,
        );
      for (const id of ids) this.#aside.delete(id);
      if (this.#aside.size === 0) this.#trouble = undefined;
    } catch (error) {
      this.#putAside(ids, error);
    }
  }

  #stillDue(ids: readonly string[]): ReadonlySet<string> {
    const { clock, env, tables } = this.#deps;
    const now = clock.now();
    return this.#stop.signal.aborted
      ? new Set()
      : env.read((snapshot) => new Set(ids.filter((id) => isDue(snapshot, tables, id, now))));
  }

  /** A claim may have handled some of its ids before it failed: they are done. */
  #putAside(ids: readonly string[], thrown: unknown): void {
    const { clock } = this.#deps;
    let left: ReadonlySet<string> = new Set(ids);
    try {
      left = this.#stillDue(ids);
    } catch {
      // The store cannot be read: all of them are tried again.
    }
    for (const id of ids) {
      const failures = (this.#aside.get(id)?.failures ?? 0) + 1;
      if (left.has(id))
        this.#aside.set(id, { fromMs: clock.monotonic() + backoffMs(failures, RETRY), failures });
      else this.#aside.delete(id);
    }
    if (this.#aside.size > MAX_SET_ASIDE) {
      this.#aside.clear();
      this.#pause(thrown);
    } else this.#complain(thrown);
  }

  #pause(thrown: unknown): void {
    this.#pausedUntilMs = this.#deps.clock.monotonic() + RETRY.maxMs;
    this.#complain(thrown);
  }

  #complain(thrown: unknown): void {
    if (this.#stop.signal.aborted) return;
    const error = thrown instanceof Error ? thrown : toStewardError(thrown);
    this.#trouble = `due timers could not be processed: ${ownMessage(error)}`;
    this.#deps.log.warn("due timers could not be processed", {
      name: this.#deps.name,
      error,
      waiting: this.#aside.size,
    });
  }

  #arm(nextMs: number): void {
    const { clock } = this.#deps;
    const monotonic = clock.monotonic();
    const retryMs = this.#retryMs();
    const waitMs = Math.max(
      Math.min(Math.max(0, nextMs - clock.now()), retryMs, LOOK_EVERY_MS),
      this.#pausedUntilMs - monotonic,
    );
    this.#timer?.[Symbol.dispose]();
    this.#armedForMs = nextMs;
    this.#timer = clock.timer(monotonic + waitMs, () => this.look());
  }

  /** Time to the next try of a failed id. What has to wait for a claim is tried when that ends. */
  #retryMs(): number {
    const { clock, parallel } = this.#deps;
    if (this.#claims.size >= parallel) return Number.POSITIVE_INFINITY;
    let retryMs = Number.POSITIVE_INFINITY;
    for (const [id, { fromMs }] of this.#aside)
      if (!this.#claimed.has(id))
        retryMs = Math.min(retryMs, Math.max(fromMs - clock.monotonic(), 1));
    return retryMs;
  }
}

function isDue(snapshot: Snapshot, { byId }: DueTables, id: string, now: number): boolean {
  return (snapshot.get(byId, id) ?? Number.POSITIVE_INFINITY) <= now;
}
