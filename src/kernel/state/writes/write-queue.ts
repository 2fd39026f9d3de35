/**
 * The single writer of an environment. Changes run in order and ahead of the disk: while LMDB's
 * thread stores one group, the next forms on top of the unstored writes (`unstored.ts`). A change
 * that throws is undone without affecting the others; one flush serves a whole group, and no write
 * resolves, nor is refused for what it saw in the group, before it
 * (docs/decisions/state-flushed.md).
 */
import { assert, ownMessage, StewardError, toStewardError, type Code } from "../../base/errors.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { rowCountKey, encodeMetadata, KEY_WRITES } from "../rows/store-metadata.ts";
import { STORE_FILE } from "../file/file-watch.ts";
import type { LmdbFile } from "../file/lmdb-file.ts";
import { Ceiling } from "./ceiling.ts";
import { ChangeQueue } from "./change-queue.ts";
import type { StoredGroup } from "./pace.ts";
import type { Outcome, Recovery } from "./reopen.ts";
import { METADATA_STORE } from "../table.ts";
import { FileTx } from "./transaction.ts";
import { holds, isFull } from "./write-group.ts";
import type { Done, Group, Pending } from "./write-group.ts";
import type { Reserve } from "../folder/reserve.ts";
import type { WriteOptions } from "../types.ts";
import { Unstored, writeOf } from "./unstored.ts";
import { atEndOfTurn } from "../../async/turns.ts";

/** Maximum time that changes run without yielding the main thread. */
const STRETCH_MS = 8;
/** Failures of the disk and the like, logged without stack. */
const EXPECTED: ReadonlySet<Code> = new Set(["disk_full", "not_ready"]);
/** How often readers of dead processes are cleared; they would keep pages from being reused. */
const READERS_EVERY_MS = 60_000;

export interface WriteQueueDeps {
  readonly file: LmdbFile;
  readonly clock: Clock;
  readonly log: Log;
  readonly maxBytes: number;
  /** Stored rows of each table; updated by the queue. */
  readonly rows: ReadonlyMap<string, number>;
  readonly reserve: Reserve;
  /** Called after each commit. */
  readonly committed?: () => void;
  /**
   * Recovers the file after a failed write. Without it a failed write is refused and the next one
   * tried.
   */
  readonly recovery?: Recovery;
  /** Checks the file as `LmdbFile.lost` does, once per group, and may log the result. */
  readonly lost?: () => StewardError | undefined;
  /** Returns how long to pause after a group, see `Pace`. */
  readonly restMs?: (group: StoredGroup) => number;
}

export class WriteQueue {
  readonly #deps: WriteQueueDeps;
  readonly #queue: ChangeQueue;
  readonly #ceiling: Ceiling;
  readonly #unstored = new Unstored();
  /** As stored. */
  readonly #rows: Map<string, number>;
  /** Has run and waits for LMDB. */
  #open: Group | undefined;
  /** Being stored by LMDB. */
  #storing: Group | undefined;
  #turnDue = false;
  #resting: NodeJS.Timeout | undefined;
  #idle: PromiseWithResolvers<void> | undefined;
  #closed = false;
  /** A failed group is being recovered: nothing reads or writes the file. */
  #recovering = false;
  /** True while a change runs: it reads through its transaction. */
  inChange = false;
  lastCommitAtMs: number | undefined;
  /** Groups passed to LMDB so far: while it is unchanged, nothing changes. */
  commits = 0;
  #failure: StewardError | undefined;
  #short = false;
  #restUntilMs = Number.NEGATIVE_INFINITY;
  #readersAtMs = Number.NEGATIVE_INFINITY;

  constructor(deps: WriteQueueDeps) {
    this.#deps = deps;
    this.#queue = new ChangeQueue(deps.clock, deps.file.path);
    this.#ceiling = new Ceiling(deps.file, deps.maxBytes);
    this.#rows = new Map(deps.rows);
  }

  get rows(): ReadonlyMap<string, number> {
    return this.#rows;
  }

  /** A group is being stored: a reader may see the state, and the counts, before or after it. */
  get busy(): boolean {
    return this.#storing !== undefined;
  }

  /** Changes not yet passed to LMDB. */
  get length(): number {
    return this.#queue.length + (this.#open?.done.length ?? 0);
  }

  /** Why writes fail; undefined once one is stored, or the disk has space again. */
  get trouble(): string | undefined {
    const shortage = this.#deps.reserve.shortage();
    if (shortage === undefined && this.#short) this.#failure = undefined;
    this.#short = shortage !== undefined;
    const trouble = this.#deps.recovery?.failure ?? shortage ?? this.#failure;
    return trouble === undefined ? undefined : ownMessage(trouble);
  }

  push<T>(change: (tx: FileTx) => T, { urgent = false, guard }: WriteOptions = {}): Promise<T> {
    return new Promise((resolve, reject) => {
      const pending: Pending = {
        urgent,
        guard,
        run: change,
        resolve: resolve as (value: unknown) => void,
        reject,
      };
      if (this.#closed) reject(new StewardError("not_ready", `${this.#deps.file.path} is closed`));
      else if (this.#deps.recovery?.failure !== undefined) reject(this.#deps.recovery.failure);
      else if (this.#queue.add(pending)) this.#soon();
    });
  }

  /** Refuses new changes; resolves when all accepted ones are stored or refused. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#resting);
    this.#resting = undefined;
    if (!this.#isIdle()) {
      this.#idle ??= Promise.withResolvers<void>();
      this.#soon();
      await this.#idle.promise;
    }
    await this.#deps.recovery?.stop();
  }

  #isIdle(): boolean {
    return this.length === 0 && this.#storing === undefined;
  }

  // In the check phase of the event loop: changes of the same turn share the flush. Keeps the
  // process alive while changes are queued.
  #soon(): void {
    if (this.#turnDue) return;
    this.#turnDue = true;
    atEndOfTurn(() => {
      this.#turnDue = false;
      this.#turn();
    });
  }

  #turn(): void {
    // What was queued when the file failed; later changes are refused at once.
    const failure = this.#deps.recovery?.failure;
    if (failure !== undefined) this.#queue.refuse(failure);
    this.#runSome();
    this.#queue.admit();
    if (this.#open !== undefined && this.#storing === undefined && !this.#rests())
      void this.#store(this.#open);
    const next = this.#queue.first;
    if (next !== undefined && this.#mayRun(next)) this.#soon();
    if (this.#isIdle()) this.#idle?.resolve();
  }

  // A guard applies to the moment its change is passed to LMDB: such a change runs only when that
  // is now.
  #mayRun({ guard }: Pending): boolean {
    if (this.#recovering) return false;
    if (guard !== undefined && (this.#storing !== undefined || this.#rests())) return false;
    return this.#open === undefined || !isFull(this.#open);
  }

  #runSome(): void {
    const { clock } = this.#deps;
    const beganMs = clock.monotonic();
    let nowMs = beganMs;
    for (
      let next = this.#queue.first;
      next !== undefined && nowMs < beganMs + STRETCH_MS && this.#mayRun(next);
      next = this.#queue.first
    ) {
      this.#queue.shift();
      this.#runOne(next);
      nowMs = clock.monotonic();
    }
    if (this.#open !== undefined) this.#open.ranMs += nowMs - beganMs;
  }

  #runOne(pending: Pending): void {
    const { file, reserve } = this.#deps;
    let tx: FileTx | undefined;
    try {
      const group = this.#open ?? this.#newGroup();
      tx = new FileTx(file, {
        rowsOf: (name) => this.#rowsOf(name),
        full: pending.urgent ? undefined : (group.full ?? reserve.shortage()),
        unstored: this.#unstored,
      });
      const value = this.#run(pending, tx);
      this.#open = group;
      this.#take(group, pending, { tx, value });
    } catch (error) {
      tx?.takeBack();
      this.#refuse(pending, error);
    } finally {
      tx?.end();
    }
  }

  /**
   * The reason may come from changes that are not on disk yet, such as the id of a job that runs
   * already; the caller learns it when a reader can see them.
   */
  #refuse(pending: Pending, error: unknown): void {
    const seen = this.#open ?? this.#storing;
    if (seen === undefined) pending.reject(error);
    else seen.done.push({ pending, refused: true, end: () => pending.reject(error), effects: [] });
  }

  /** Throws when the file is lost: even reading the file at its path is unsafe then. */
  #newGroup(): Group {
    const { file, lost: look = () => file.lost() } = this.#deps;
    const lost = look();
    if (lost !== undefined) throw lost;
    return {
      done: [],
      writes: [],
      rows: new Map(),
      bytes: 0,
      ranMs: 0,
      full: this.#ceiling.reached(),
    };
  }

  #run(pending: Pending, tx: FileTx): unknown {
    try {
      this.inChange = true;
      const value = pending.run(tx);
      assert(!isThenable(value), "a change is synchronous");
      if (tx.failure !== undefined) throw tx.failure;
      pending.guard?.();
      return value;
    } finally {
      this.inChange = false;
    }
  }

  #take(
    group: Group,
    pending: Pending,
    { tx, value }: { readonly tx: FileTx; readonly value: unknown },
  ): void {
    for (const [name, rows] of tx.rows) group.rows.set(name, rows);
    for (const write of tx.writes) group.writes.push(write);
    group.bytes += tx.bytes;
    group.done.push({
      pending,
      refused: false,
      end: () => pending.resolve(value),
      effects: tx.effects,
    });
    this.#queue.updateAverage(tx.bytes);
  }

  #rowsOf(table: string): number {
    return (
      this.#open?.rows.get(table) ?? this.#storing?.rows.get(table) ?? this.#rows.get(table) ?? 0
    );
  }

  /** Whether the next group has to wait; the end of the pause starts it. */
  #rests(): boolean {
    const restMs = this.#restUntilMs - this.#deps.clock.monotonic();
    if (restMs <= 0 || this.#closed) return false;
    // Not a timer of the clock, which would let the process exit with a queued change.
    this.#resting ??= setTimeout(() => {
      this.#resting = undefined;
      this.#soon();
    }, restMs);
    return true;
  }

  async #store(group: Group): Promise<void> {
    const { clock, file } = this.#deps;
    this.#open = undefined;
    this.#storing = group;
    this.#unstored.handOver();
    this.commits += 1;
    const beganMs = clock.monotonic();
    let failure: StewardError | undefined;
    try {
      this.#forgetReaders();
      this.#addCensus(group);
      this.#ceiling.spend(group.bytes, group.writes.length);
      if (group.writes.length > 0) await file.storeAll(group.writes);
    } catch (thrown) {
      failure = toStewardError(thrown);
    }
    const outcome = failure === undefined ? "stored" : await this.#recover(group, failure);
    this.#storing = undefined;
    if (outcome === "stored" || failure === undefined)
      this.#stored(group, clock.monotonic() - beganMs);
    else this.#failed(group, failure);
    if (outcome === "adopt") this.#adopt(group);
    this.#soon();
  }

  async #recover(group: Group, error: StewardError): Promise<Outcome> {
    const { recovery, reserve } = this.#deps;
    if (error.code === "disk_full") reserve.release();
    if (recovery === undefined || this.#closed || error.rule === STORE_FILE) return "refused";
    this.#recovering = true;
    try {
      // Changes that ran after it depend on it. On a full disk only urgent ones are stored, after
      // running again.
      const mayRepeat = (): boolean =>
        error.code === "not_ready" &&
        [...group.done, ...(this.#open?.done ?? [])].every(
          ({ pending, refused }) => refused || holds(pending.guard),
        );
      return await recovery.settle({
        writes: group.writes,
        error,
        mayRepeat,
        adopt: () => this.#adopt(group),
      });
    } finally {
      this.#recovering = false;
    }
  }

  /**
   * The file contains a group that was refused because its outcome was unknown: memory follows the
   * file.
   */
  #adopt(group: Group): void {
    const { log, file } = this.#deps;
    log.warn("a write reported as failed was stored after all", {
      path: file.path,
      changes: group.done.length,
    });
    for (const [name, rows] of group.rows) this.#rows.set(name, rows);
    for (const { effects } of group.done) for (const effect of effects) this.#runEffect(effect);
  }

  #stored(group: Group, tookMs: number): void {
    for (const [name, rows] of group.rows) this.#rows.set(name, rows);
    this.#unstored.settle();
    this.#committed(group.done);
    this.#restUntilMs =
      this.#deps.clock.monotonic() +
      (this.#deps.restMs?.({ bytes: group.bytes, tookMs: group.ranMs + tookMs }) ?? 0);
  }

  /** Writes the counts of rows and of encrypted values, once per group. */
  #addCensus(group: Group): void {
    const { file } = this.#deps;
    const { ring } = file;
    const metadata = file.store(METADATA_STORE);
    for (const [name, rows] of group.rows)
      group.writes.push(writeOf(metadata, rowCountKey({ name }), encodeMetadata(rows)));
    const writes = ring?.due();
    if (ring === undefined || writes === undefined) return;
    group.writes.push(writeOf(metadata, KEY_WRITES, encodeMetadata(writes)));
    group.done.at(-1)?.effects.push(() => ring.counted(writes));
  }

  #committed(group: readonly Done[]): void {
    this.lastCommitAtMs = this.#deps.clock.now();
    this.#failure = undefined;
    for (const { end, effects } of group) {
      for (const effect of effects) this.#runEffect(effect);
      end();
    }
    this.#deps.committed?.();
  }

  // The write is durable whatever an effect does, so an effect's failure is a bug and is logged.
  #runEffect(effect: () => void): void {
    try {
      effect();
    } catch (error) {
      this.#deps.log.error("a callback after a write failed", {
        error,
        path: this.#deps.file.path,
      });
    }
  }

  /** Changes that ran after the group depend on it. */
  #failed(group: Group, error: StewardError): void {
    const { file, log, recovery, reserve } = this.#deps;
    const behind = this.#open?.done ?? [];
    this.#open = undefined;
    this.#unstored.clear();
    // A lost file is checked each time; after a recovery two writes have just proved that the file
    // accepts them.
    this.#failure = recovery !== undefined || error.rule === STORE_FILE ? undefined : error;
    log.error("a write failed", {
      ...(EXPECTED.has(error.code) ? { reason: error.message } : { error }),
      path: file.path,
      changes: group.done.length + behind.length,
    });
    const shortage = reserve.shortage();
    this.#short = shortage !== undefined;
    const again: Pending[] = [];
    const tried = (pending: Pending): void => {
      if (
        shortage === undefined ||
        recovery?.failure !== undefined ||
        !pending.urgent ||
        pending.again === true
      )
        pending.reject(error);
      else again.push(pending);
    };
    for (const { pending } of group.done) {
      tried(pending);
      pending.again = true;
    }
    for (const { pending } of behind) tried(pending);
    this.#queue.putBack(again);
  }

  #forgetReaders(): void {
    const now = this.#deps.clock.monotonic();
    if (now < this.#readersAtMs + READERS_EVERY_MS) return;
    this.#readersAtMs = now;
    this.#deps.file.root.readerCheck();
  }
}

function isThenable(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as { then?: unknown }).then === "function"
  );
}
