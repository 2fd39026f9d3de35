/**
 * Names of external addresses, looked up in the background. Bounded: entries and queries under way
 * together never exceed `maxEntries`, and live entries make no way for others.
 */
import type { Clock } from "../../kernel/base/clock.ts";
import type { Log } from "../../kernel/base/log.ts";
import { createSemaphore } from "../../kernel/async/semaphore.ts";
import { nextTurn } from "../../kernel/async/turns.ts";
import type { ReverseResolver } from "./resolver.ts";
import type { ReverseDnsFigures, ReverseDnsOptions, ReverseNames } from "./types.ts";

/** Queries at once. */
export const MAX_QUERIES = 8;
/** Time between two removals of expired entries. */
const SWEEP_MS = 30_000;
/** Entries looked at before others get a turn. */
const SWEPT_AT_ONCE = 5_000;

interface Entry {
  /** Undefined for an address without a name. */
  readonly name: string | undefined;
  readonly untilMs: number;
  /** After `untilMs`, for a name: when a refresh may be tried again. */
  retryAtMs: number;
}

export interface ReverseDnsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly resolver: ReverseResolver;
}

/** One for all networks of the process. */
export class ReverseDnsCache implements ReverseNames {
  readonly #deps: ReverseDnsDeps;
  readonly #options: ReverseDnsOptions;
  readonly #entries = new Map<string, Entry>();
  /** Addresses whose query runs or waits. */
  readonly #pending = new Set<string>();
  readonly #slots = createSemaphore(MAX_QUERIES);
  readonly #closing = new AbortController();
  /** Pending addresses without an entry. */
  #reserved = 0;
  #timer: Disposable | undefined;
  #failing = false;
  #figures = {
    hits: 0,
    stale: 0,
    negatives: 0,
    misses: 0,
    answered: 0,
    failed: 0,
    refreshed: 0,
    refreshesFailed: 0,
    expired: 0,
    staleExpired: 0,
    purged: 0,
    overflows: 0,
    lastPurgeMs: undefined as number | undefined,
  };

  constructor(deps: ReverseDnsDeps, options: ReverseDnsOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  start(): void {
    this.#timer = this.#deps.clock.timer(this.#deps.clock.monotonic() + SWEEP_MS, () => {
      void this.#sweep().then(() => this.#closed || this.start());
    });
  }

  /** Ends queries under way; later look-ups find what is known and start none. */
  close(): void {
    this.#closing.abort();
    this.#timer?.[Symbol.dispose]();
    this.#deps.resolver.cancel();
  }

  nameOf(address: string): string | undefined {
    const nowMs = this.#deps.clock.monotonic();
    const entry = this.#entries.get(address);
    if (entry !== undefined && nowMs < entry.untilMs) {
      if (entry.name === undefined) this.#figures.negatives += 1;
      else this.#figures.hits += 1;
      return entry.name;
    }
    if (entry?.name !== undefined && nowMs < entry.untilMs + this.#options.staleTtlMs) {
      this.#figures.stale += 1;
      if (nowMs >= entry.retryAtMs) this.#ask(address, entry);
      return entry.name;
    }
    if (entry !== undefined) this.#expire(address, entry);
    this.#figures.misses += 1;
    this.#ask(address, undefined);
    return undefined;
  }

  /** Removes all names; queries under way store theirs afterwards. The number removed. */
  purge(): number {
    const { size } = this.#entries;
    this.#entries.clear();
    this.#reserved = this.#pending.size;
    this.#figures.purged += size;
    this.#figures.lastPurgeMs = this.#deps.clock.now();
    return size;
  }

  figures(): ReverseDnsFigures {
    return { ...this.#figures, size: this.#entries.size };
  }

  get #closed(): boolean {
    return this.#closing.signal.aborted;
  }

  #ask(address: string, entry: Entry | undefined): void {
    if (this.#closed || this.#pending.has(address)) return;
    if (entry === undefined) {
      // Reserved before the query starts, so that its answer always finds room.
      if (this.#entries.size + this.#reserved >= this.#options.maxEntries) {
        this.#figures.overflows += 1;
        return;
      }
      this.#reserved += 1;
    }
    this.#pending.add(address);
    void this.#query(address).catch((error: unknown) => {
      if (!this.#closed) throw error;
    });
  }

  async #query(address: string): Promise<void> {
    using _ = this.#slots.tryAcquire() ?? (await this.#slots.acquire(this.#closing.signal));
    const names = await this.#deps.resolver.resolve(address).catch((error: unknown) => {
      this.#said(error as NodeJS.ErrnoException);
      return undefined;
    });
    if (this.#closed) return;
    this.#pending.delete(address);
    const before = this.#entries.get(address);
    if (before === undefined) this.#reserved -= 1;
    this.#store(address, before, names);
  }

  /** A failed refresh keeps the name; a failed first query is not repeated for a while. */
  #store(address: string, before: Entry | undefined, names: readonly string[] | undefined): void {
    const nowMs = this.#deps.clock.monotonic();
    const { cacheTtlMs, negativeTtlMs } = this.#options;
    if (names === undefined) this.#figures.failed += 1;
    else this.#figures.answered += 1;
    if (before?.name !== undefined) {
      if (names === undefined) {
        this.#figures.refreshesFailed += 1;
        before.retryAtMs = nowMs + negativeTtlMs;
        return;
      }
      this.#figures.refreshed += 1;
    }
    if (names !== undefined && this.#failing) {
      this.#failing = false;
      this.#deps.log.info("the resolver answers again");
    }
    // The order of an answer changes from query to query; the name must not.
    const name = names?.toSorted()[0];
    const untilMs = nowMs + (name === undefined ? negativeTtlMs : cacheTtlMs);
    this.#entries.set(address, { name, untilMs, retryAtMs: untilMs });
  }

  /** Once until an answer comes: the address itself is not for the log. */
  #said({ code }: NodeJS.ErrnoException): void {
    if (this.#failing || this.#closed) return;
    this.#failing = true;
    this.#deps.log.warn("the resolver does not answer reverse queries", {
      server: this.#options.server || "the system's",
      cause: code,
    });
  }

  #expire(address: string, { name }: Entry): void {
    this.#entries.delete(address);
    if (this.#pending.has(address)) this.#reserved += 1;
    if (name !== undefined && this.#options.staleTtlMs > 0) this.#figures.staleExpired += 1;
    else this.#figures.expired += 1;
  }

  async #sweep(): Promise<void> {
    let left = SWEPT_AT_ONCE;
    for (const [address, entry] of this.#entries) {
      const staleMs = entry.name === undefined ? 0 : this.#options.staleTtlMs;
      if (this.#deps.clock.monotonic() >= entry.untilMs + staleMs) this.#expire(address, entry);
      if (--left > 0) continue;
      left = SWEPT_AT_ONCE;
      await nextTurn();
      if (this.#closed) return;
    }
  }
}
