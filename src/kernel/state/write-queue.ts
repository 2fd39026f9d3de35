/**
 * The one writer of an environment. Changes wait in order; a group of them runs in one LMDB transaction; one that throws
 * takes back what it wrote and does not disturb the others; one flush serves the whole group.
 */
import { setTimeout } from "node:timers/promises";
import { assert, ownWords, StewardError, toStewardError } from "../base/errors.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { censusKey, KEY_WRITES, putHouse } from "./house.ts";
import { fileBytes, lmdbError } from "./lmdb-file.ts";
import type { LmdbFile } from "./lmdb-file.ts";
import type { StoredGroup } from "./pace.ts";
import { FileTx } from "./transaction.ts";
import type { Reserve } from "./reserve.ts";
import type { WriteOptions } from "./types.ts";

/** Changes that may wait in line, and their bytes as far as the latest changes tell. */
export const QUEUE_CHANGES: number = 10_000;
export const QUEUE_BYTES: number = 32 * 2 ** 20;
/** How long a caller waits for a place in the line. */
export const QUEUE_WAIT_MS: number = 5_000;

/** A group ends with the change that reaches one of these. The main thread does nothing else meanwhile, and who comes next waits for its flush. */
const GROUP_BYTES = 2 ** 20;
const GROUP_MS = 8;
/** Share of the ceiling that may be in use before puts are refused; the rest is room for pages that commits free. */
const USABLE_SHARE = 0.9;
/** How often readers of processes that died are looked for; they would keep pages from being used again. */
const READERS_EVERY_MS = 60_000;

/** What a queue works with. */
export interface WriteQueueDeps {
  readonly file: LmdbFile;
  readonly clock: Clock;
  readonly log: Log;
  readonly maxBytes: number;
  /** Rows of each table as stored; the queue keeps it true from then on. */
  readonly rows: ReadonlyMap<string, number>;
  readonly reserve: Reserve;
  /** Runs after each commit. */
  readonly committed?: () => void;
  /** Gives how long to rest after a group, see `Pace`. */
  readonly restMs?: (group: StoredGroup) => number;
}

interface Pending {
  readonly urgent: boolean;
  readonly guard: (() => void) | undefined;
  readonly run: (tx: FileTx) => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Ran before, in a group that the full disk did not take. */
  again?: boolean;
}

interface Done {
  readonly pending: Pending;
  readonly value: unknown;
  readonly effects: (() => void)[];
}

/** Runs changes in order, grouped. */
export class WriteQueue {
  readonly #deps: WriteQueueDeps;
  readonly #queue: Pending[] = [];
  readonly #waiting = new Map<Pending, Disposable>();
  /** As stored. */
  readonly #rows: Map<string, number>;
  /** Counts that the group under way has changed. */
  readonly #changedRows = new Map<string, number>();
  #averageBytes = 0;
  #pumping: Promise<void> | undefined;
  #closed = false;
  /** True while a change runs: reads of the environment would see its unfinished writes. */
  inChange = false;
  lastCommitAtMs: number | undefined;
  /** Transactions begun so far: while it stays, nothing changes. */
  commits = 0;
  #failure: StewardError | undefined;
  #short = false;
  #restUntilMs = Number.NEGATIVE_INFINITY;
  #readersAtMs = Number.NEGATIVE_INFINITY;

  constructor(deps: WriteQueueDeps) {
    this.#deps = deps;
    this.#rows = new Map(deps.rows);
  }

  get rows(): ReadonlyMap<string, number> {
    return this.#rows;
  }

  /** A group is being stored: what a reader sees may be of before or after it, and the counts, too. */
  get busy(): boolean {
    return this.#pumping !== undefined;
  }

  get length(): number {
    return this.#queue.length + this.#waiting.size;
  }

  /** Why writes are not taken as they should be; undefined once one is stored, or the disk has room again. */
  get trouble(): string | undefined {
    const shortage = this.#deps.reserve.shortage();
    if (shortage === undefined && this.#short) this.#failure = undefined;
    this.#short = shortage !== undefined;
    const trouble = shortage ?? this.#failure;
    return trouble === undefined ? undefined : ownWords(trouble);
  }

  push<T>(change: (tx: FileTx) => T, { urgent = false, guard }: WriteOptions = {}): Promise<T> {
    return new Promise((resolve, reject) => {
      const pending: Pending = { urgent, guard, run: change, resolve: resolve as (value: unknown) => void, reject };
      if (this.#closed) reject(new StewardError("not_ready", `${this.#deps.file.path} is closed`));
      else if (this.#hasRoom() && this.#waiting.size === 0) this.#enter(pending);
      else this.#wait(pending);
    });
  }

  /** Refuses new changes and resolves when all that were taken are stored or refused. */
  async close(): Promise<void> {
    this.#closed = true;
    while (this.#pumping !== undefined) await this.#pumping;
  }

  #hasRoom(): boolean {
    const length = this.#queue.length;
    return length === 0 || (length < QUEUE_CHANGES && length * this.#averageBytes < QUEUE_BYTES);
  }

  #enter(pending: Pending): void {
    this.#queue.push(pending);
    this.#pumping ??= this.#pump();
  }

  #wait(pending: Pending): void {
    if (this.#waiting.size >= QUEUE_CHANGES) return pending.reject(this.#exhausted());
    const { clock } = this.#deps;
    this.#waiting.set(pending, clock.timer(clock.monotonic() + QUEUE_WAIT_MS, () => {
      if (this.#waiting.delete(pending)) pending.reject(this.#exhausted());
    }));
  }

  #admit(): void {
    for (const [pending, timer] of this.#waiting) {
      if (!this.#hasRoom()) return;
      this.#waiting.delete(pending);
      timer[Symbol.dispose]();
      this.#queue.push(pending);
    }
  }

  async #pump(): Promise<void> {
    while (this.#queue.length > 0) {
      const group: Done[] = [];
      await this.#rest();
      try {
        this.#forgetReaders();
        const full = this.#ceiling();
        this.commits += 1;
        let bytes = 0;
        const { clock } = this.#deps;
        const beganMs = clock.monotonic();
        await this.#deps.file.transact(() => void (bytes = this.#runGroup(group, full)));
        for (const [name, rows] of this.#changedRows) this.#rows.set(name, rows);
        this.#committed(group);
        const endedMs = clock.monotonic();
        this.#restUntilMs = endedMs + (this.#deps.restMs?.({ bytes, tookMs: endedMs - beganMs }) ?? 0);
      } catch (thrown) {
        this.#failed(group, toStewardError(thrown));
      }
      this.#changedRows.clear();
      this.#admit();
    }
    this.#pumping = undefined; // in the same stretch as the last look at the queue, so no change is left lying
  }

  // Not by the clock's timers: those would let the process end with a change in line.
  async #rest(): Promise<void> {
    const restMs = this.#restUntilMs - this.#deps.clock.monotonic();
    if (restMs > 0 && !this.#closed) await setTimeout(restMs);
  }

  #runGroup(group: Done[], full: StewardError | undefined): number {
    const { clock } = this.#deps;
    const until = clock.monotonic() + GROUP_MS;
    let bytes = 0;
    for (let pending = this.#queue.shift(); pending !== undefined; pending = this.#queue.shift()) {
      bytes += this.#runOne(pending, group, full);
      if (bytes >= GROUP_BYTES || clock.monotonic() >= until) break;
    }
    this.#writeCensus(group);
    return bytes;
  }

  /** Stores the counts of rows and of encrypted values, once for a group. A failure here spoils the whole transaction, and is thrown. */
  #writeCensus(group: Done[]): void {
    const { file } = this.#deps;
    const { ring } = file;
    try {
      for (const [name, rows] of this.#changedRows) putHouse(file, censusKey({ name }), rows);
      const writes = ring?.due();
      if (ring === undefined || writes === undefined) return;
      putHouse(file, KEY_WRITES, writes);
      group.at(-1)?.effects.push(() => ring.counted(writes));
    } catch (error) {
      throw lmdbError(error, file.path);
    }
  }

  #runOne(pending: Pending, group: Done[], full: StewardError | undefined): number {
    const { file, reserve } = this.#deps;
    const tx = new FileTx(file, { rowsOf: (name) => this.#changedRows.get(name) ?? this.#rows.get(name) ?? 0, full: full ?? (pending.urgent ? undefined : reserve.shortage()) });
    let value: unknown;
    try {
      this.inChange = true;
      value = pending.run(tx);
      assert(!isThenable(value), "a change is synchronous");
      if (tx.failure !== undefined) throw tx.failure;
      pending.guard?.();
    } catch (error) {
      this.#takeBack(tx, pending, error);
      return 0;
    } finally {
      this.inChange = false;
      tx.end();
    }
    for (const [name, rows] of tx.rows) this.#changedRows.set(name, rows);
    this.#averageBytes = this.#averageBytes * 0.9 + tx.bytes * 0.1;
    group.push({ pending, value, effects: tx.effects });
    return tx.bytes;
  }

  /** A failure here spoils the whole transaction, and is thrown. */
  #takeBack(tx: FileTx, pending: Pending, error: unknown): void {
    pending.reject(error);
    tx.takeBack();
  }

  #committed(group: readonly Done[]): void {
    this.lastCommitAtMs = this.#deps.clock.now();
    this.#failure = undefined;
    for (const { pending, value, effects } of group) {
      for (const effect of effects) this.#runEffect(effect);
      pending.resolve(value);
    }
    this.#deps.committed?.();
  }

  // The write stands whatever an effect does, so its failure is ours and goes to the log.
  #runEffect(effect: () => void): void {
    try {
      effect();
    } catch (error) {
      this.#deps.log.error("an effect after a write failed", { error, path: this.#deps.file.path });
    }
  }

  #failed(group: readonly Done[], error: StewardError): void {
    const { file, log, reserve } = this.#deps;
    this.#failure = error;
    log.error("a write could not be stored", { error, path: file.path, changes: group.length });
    if (error.code === "disk_full") reserve.release();
    const shortage = reserve.shortage();
    this.#short = shortage !== undefined;
    const again: Pending[] = [];
    for (const { pending } of group) {
      if (shortage === undefined || !pending.urgent || pending.again === true) pending.reject(error);
      else again.push(Object.assign(pending, { again: true }));
    }
    this.#queue.unshift(...again);
    if (group.length === 0) this.#queue.shift()?.reject(error); // nothing ran: without this the same failure would come for ever
  }

  #ceiling(): StewardError | undefined {
    const { file, maxBytes } = this.#deps;
    if (fileBytes(file.path) < maxBytes) return undefined; // to count the pages in use takes as long as a small group
    let size: { fileBytes: number; usedBytes: number };
    try {
      size = file.size();
    } catch (error) {
      throw lmdbError(error, file.path);
    }
    if (size.fileBytes < maxBytes || size.usedBytes < maxBytes * USABLE_SHARE) return undefined;
    return new StewardError("disk_full", `${file.path} has reached its ceiling of ${maxBytes} bytes`, { rule: "maxBytes", remedy: "raise the ceiling or delete what is no longer needed" });
  }

  #forgetReaders(): void {
    const now = this.#deps.clock.monotonic();
    if (now < this.#readersAtMs + READERS_EVERY_MS) return;
    this.#readersAtMs = now;
    this.#deps.file.root.readerCheck();
  }

  #exhausted(): StewardError {
    return new StewardError("exhausted", `more changes wait for ${this.#deps.file.path} than it can store`, { rule: "write queue", remedy: "try again later", retryAfterMs: QUEUE_WAIT_MS });
  }
}

function isThenable(value: unknown): boolean {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
