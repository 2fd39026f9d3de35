/**
 * The traffic of one network on disk. Rows wait in a bounded queue and are written together; a row
 * that finds no place is dropped and counted, and nobody waits for a write.
 */
import type { Clock } from "../../../kernel/base/clock.ts";
import { toStewardError, type Code } from "../../../kernel/base/errors.ts";
import type { Log } from "../../../kernel/base/log.ts";
import { createSerial } from "../../../kernel/async/serial.ts";
import { Turns } from "../../../kernel/async/turns.ts";
import type { Env } from "../../../kernel/state/types.ts";
import type { FlowDiskOptions } from "../../options.ts";
import { AccessPolicy } from "../../policy/access-policy.ts";
import { clausesOf, matcher } from "../filter.ts";
import type { FlowPart, FlowQuery, FlowSelection, FlowStore, FlowWindow } from "../flow-store.ts";
import type { FlowObservation, FlowRefusal, FlowStoreStatus, StoredFlow } from "../types.ts";
import { BlockSums } from "./block-sums.ts";
import type { BlockStore } from "./block-store.ts";
import { HOUR_MS } from "./flow-block.ts";
import { Newest } from "./newest.ts";
import type { StoredBlock } from "./packed-block.ts";

/** As much as usually fits in one change. */
const WRITTEN_AT_ONCE = { rows: 8_192, hours: 4 };
/** The oldest blocks go before the next sweep once so many times the row limit are stored. */
const MAX_EXCESS = 1.1;
/** Share of the rows that is kept when the file has reached its limit. */
const KEPT_SHARE = 0.9;
/** Refusals of a connection itself, which would be repeated for ever. */
const REFUSED: ReadonlySet<Code> = new Set(["too_large", "invalid"]);

export interface DiskStoreDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Numbers of arrival, shared by the stores of all networks. */
  readonly nextSeq: () => number;
  /** Leaves out what the privacy filter hides. */
  readonly redact: (flow: FlowObservation) => FlowObservation;
  readonly env: Pick<Env, "status" | "close">;
  readonly blocks: BlockStore;
}

export type DiskStoreOptions = FlowDiskOptions & { readonly maxFutureSkewMs: number };

export class DiskFlowStore implements FlowStore {
  readonly policy = new AccessPolicy();
  network: string;
  readonly #deps: DiskStoreDeps;
  readonly #options: DiskStoreOptions;
  /** In the order of arrival; the first ones may be being written. */
  #queue: StoredFlow[] = [];
  #observations = 0;
  #drops = 0;
  #error: string | undefined;
  readonly #serial = createSerial();
  #flushTimer: Disposable | undefined;
  #sweepTimer: Disposable | undefined;
  /** The last sweep found nothing younger than the retention. */
  #wasAllOld = false;
  #closed = false;

  constructor(deps: DiskStoreDeps, network: string, options: DiskStoreOptions) {
    this.#deps = deps;
    this.network = network;
    this.#options = options;
    this.#sweepLater(0);
  }

  named(network: string): void {
    this.network = network;
  }

  record(observation: FlowObservation): FlowRefusal | undefined {
    const { retentionMs, maxFutureSkewMs, queueSize, batchSize } = this.#options;
    const nowMs = this.#deps.clock.now();
    const timeMs = observation.timeMs ?? nowMs;
    if (timeMs < nowMs - retentionMs) return "expired";
    if (timeMs > nowMs + maxFutureSkewMs) return "future";
    if (this.#closed || this.#queue.length >= queueSize) {
      this.#drops += 1;
      return "queue_full";
    }
    this.#observations += 1;
    this.#queue.push({ ...this.#deps.redact(observation), timeMs, seq: this.#deps.nextSeq() });
    if (this.#queue.length === batchSize) void this.flush();
    else this.#flushLater();
    return undefined;
  }

  status(): FlowStoreStatus {
    const { blocks, env } = this.#deps;
    const { bytes, path, healthy, reason } = env.status();
    return {
      buckets: blocks.minutes,
      capacity: 0,
      observations: this.#observations,
      truncated: this.#drops,
      times: blocks.times(),
      backend: {
        kind: "lmdb",
        path,
        error: this.#error ?? (healthy ? undefined : (reason ?? "the file takes no writes")),
        queued: this.#queue.length,
        queueDrops: this.#drops,
        rows: blocks.rows,
        sizeBytes: bytes,
      },
    };
  }

  async *parts(window: FlowWindow, signal: AbortSignal): AsyncGenerator<FlowPart> {
    const uptoSeq = this.#deps.blocks.lastSeq;
    const turns = new Turns();
    const waiting = new BlockSums();
    const stored = this.#deps.blocks.within(window);
    signal.throwIfAborted();
    for (const flow of this.#waiting(uptoSeq)) {
      if (turns.over) await turns.give(signal);
      if (flow.timeMs >= window.startMs && flow.timeMs <= window.endMs) waiting.add(flow);
    }
    yield waiting;
    for (const block of stored) {
      if (turns.over) await turns.give(signal);
      const part = await this.#deps.blocks.part(block, { ...window, uptoSeq }, { turns, signal });
      if (part !== undefined) yield part;
    }
  }

  async select(query: FlowQuery, signal: AbortSignal): Promise<FlowSelection> {
    const { blocks } = this.#deps;
    const { startMs, endMs, limit } = query;
    const uptoSeq = blocks.lastSeq;
    const turns = new Turns();
    const matches = matcher(query.filter);
    const clauses = clausesOf(query.filter);
    const newest = new Newest(limit + 1, query.before);
    const stored = blocks.within(query);
    const waiting = this.#waiting(uptoSeq);
    // Now: what waits may be among the rows on disk by the end.
    const retained = blocks.rows + waiting.length;
    const isFull = blocks.rows >= this.#options.maxRows;
    let matched = 0;
    signal.throwIfAborted();
    for (const flow of waiting) {
      if (turns.over) await turns.give(signal);
      if (flow.timeMs < startMs || flow.timeMs > endMs || !matches(flow)) continue;
      matched += 1;
      newest.add(flow);
    }
    for (const block of stored) {
      if (turns.over) await turns.give(signal);
      const isWhole = clauses.length === 0 && isInside(block, query) && block.lastSeq <= uptoSeq;
      if (isWhole && !newest.wants(block)) {
        matched += block.rows;
        continue;
      }
      const columns = blocks.read(block);
      if (columns === undefined) continue;
      const found = columns.find({ startMs, endMs, uptoSeq, clauses });
      matched += found.length;
      for (const index of found) {
        if (turns.over) await turns.give(signal);
        if (newest.takes(columns.timeMs(index), columns.seq(index))) newest.add(columns.row(index));
      }
    }
    return { rows: newest.rows(), matched, retained, isFull };
  }

  /**
   * Writes what waits. Never rejects: what could not be written waits on, and the status says why.
   */
  flush(): Promise<void> {
    this.#flushTimer?.[Symbol.dispose]();
    this.#flushTimer = undefined;
    return this.#serial(async () => {
      try {
        while (this.#queue.length > 0) await this.#writeSome();
        if (this.#error !== undefined)
          this.#deps.log.info("flows are stored again", { network: this.network });
        this.#error = undefined;
      } catch (thrown) {
        this.#fail(thrown);
        this.#flushLater();
      }
    });
  }

  /** Writes what waits and closes the file. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#sweepTimer?.[Symbol.dispose]();
    await this.flush();
    this.#flushTimer?.[Symbol.dispose]();
    await this.#serial(() => this.#deps.env.close());
  }

  /**
   * Removes what is older than the retention, then the oldest blocks beyond the row limit. If all
   * of it is too old, the clock may be ahead: only the second sweep in a row removes that.
   */
  sweep(): Promise<void> {
    return this.#serial(async () => {
      const { blocks, clock } = this.#deps;
      const { retentionMs, maxRows } = this.#options;
      const oldestMs = clock.now() - retentionMs;
      const isAllOld =
        blocks.within({ startMs: oldestMs, endMs: Number.MAX_SAFE_INTEGER }).length === 0;
      const waits = isAllOld && !this.#wasAllOld;
      this.#wasAllOld = isAllOld;
      await this.#remove({ untilMs: waits ? 0 : oldestMs, maxRows });
    }).catch((thrown: unknown) => this.#fail(thrown));
  }

  /** Writes the first of the queue, and makes room where there is too much. */
  async #writeSome(): Promise<void> {
    const { blocks } = this.#deps;
    const { maxRows } = this.#options;
    try {
      await this.#write(this.#batch());
    } catch (thrown) {
      if (toStewardError(thrown).rule !== "maxBytes" || blocks.rows === 0) throw thrown;
      await this.#remove({ maxRows: Math.min(maxRows, blocks.rows * KEPT_SHARE) });
      await this.#write(this.#batch());
    }
    if (blocks.rows > maxRows * MAX_EXCESS) await this.#remove({ maxRows });
  }

  /** Drops a connection that can never be written. */
  async #write(batch: readonly StoredFlow[]): Promise<void> {
    let taken = 1;
    try {
      taken = await this.#deps.blocks.append(batch);
    } catch (thrown) {
      if (!REFUSED.has(toStewardError(thrown).code)) throw thrown;
      if (batch.length > 1) return this.#write(batch.slice(0, Math.ceil(batch.length / 2)));
      this.#drops += 1;
      this.#deps.log.error("a flow cannot be stored and was dropped", {
        network: this.network,
        error: toStewardError(thrown),
      });
    }
    this.#queue = this.#queue.slice(taken);
  }

  /** Removes blocks that ended before a time, and the oldest beyond a number of rows. */
  async #remove({
    untilMs = 0,
    maxRows,
  }: {
    readonly untilMs?: number;
    readonly maxRows: number;
  }): Promise<void> {
    const { blocks } = this.#deps;
    const all = blocks
      .within({ startMs: 0, endMs: Number.MAX_SAFE_INTEGER })
      .toSorted((left, right) => left.hour - right.hour || left.number - right.number);
    let excess = blocks.rows - maxRows;
    const removed = all.filter((block) => {
      const goes = block.endMs < untilMs || excess > 0;
      if (goes) excess -= block.rows;
      return goes;
    });
    if (removed.length > 0) await blocks.remove(removed);
  }

  /** A copy of the first of the queue, which grows meanwhile. */
  #batch(): readonly StoredFlow[] {
    const hours = new Set<number>();
    const end = this.#queue.findIndex(({ timeMs }, index) => {
      hours.add(Math.floor(timeMs / HOUR_MS));
      return hours.size > WRITTEN_AT_ONCE.hours || index >= WRITTEN_AT_ONCE.rows;
    });
    return this.#queue.slice(0, end === -1 ? undefined : end);
  }

  /** Rows that are not on disk, where `uptoSeq` is the last arrival. */
  #waiting(uptoSeq: number): readonly StoredFlow[] {
    return this.#queue.filter(({ seq }) => seq > uptoSeq);
  }

  #fail(thrown: unknown): void {
    const error = toStewardError(thrown);
    if (this.#error === undefined)
      this.#deps.log.error("flows cannot be stored; new ones wait, and are dropped once too many", {
        network: this.network,
        error,
      });
    this.#error = error.message;
  }

  #flushLater(): void {
    if (this.#closed) return;
    const { clock } = this.#deps;
    this.#flushTimer ??= clock.timer(
      clock.monotonic() + this.#options.flushIntervalMs,
      () => void this.flush(),
    );
  }

  #sweepLater(afterMs: number): void {
    const { clock } = this.#deps;
    this.#sweepTimer = clock.timer(clock.monotonic() + afterMs, () => {
      void this.sweep().then(() => {
        if (!this.#closed) this.#sweepLater(this.#options.sweepIntervalMs);
      });
    });
  }
}

function isInside(block: StoredBlock, { startMs, endMs }: FlowWindow): boolean {
  return block.startMs >= startMs && block.endMs <= endMs;
}
