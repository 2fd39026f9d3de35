/**
 * A bounded queue of records sent to the telemetry thread. Waiting and unacknowledged records count
 * together; further ones are dropped and counted. Waiting records survive the loss of the port,
 * sent ones do not.
 */
import type { Clock } from "../../base/clock.ts";
import { QueueCount, type QueueStatus } from "../../async/queue-count.ts";

/** Maximum time a record waits for a batch. */
const GATHER_MS = 100;

export interface OutboxStatus extends QueueStatus {
  /** Sent to a telemetry thread that was lost. */
  readonly lost: number;
}

/** The items of one message. */
export interface Batch<T> {
  readonly size: number;
  add(item: T): void;
  /** Called once, after all items. */
  post(): void;
}

export interface OutboxOptions<T> {
  readonly clock: Clock;
  readonly capacity: number;
  readonly perMessage: number;
  readonly batch: () => Batch<T>;
}

/** The outbox of one thread for one kind of record. */
export class Outbox<T> {
  readonly #options: OutboxOptions<T>;
  /** Waiting records and unacknowledged ones. */
  readonly #count: QueueCount;
  #waiting: Batch<T>[] = [];
  #lost = 0;
  #state: "unwanted" | "expected" | "open" = "unwanted";
  #timer: Disposable | undefined;

  constructor(options: OutboxOptions<T>) {
    this.#options = options;
    this.#count = new QueueCount(options.capacity);
  }

  /**
   * Whether records are kept for a port that may still come; when not, waiting ones are discarded.
   */
  want(wanted: boolean): void {
    if (!wanted) this.#count.drop(sizeOf(this.#waiting.splice(0)));
    if (!wanted) this.#disarm();
    if (!wanted) this.#state = "unwanted";
    else if (this.#state === "unwanted") this.#state = "expected";
  }

  /** Called when a port is attached. */
  open(): void {
    if (this.#state === "unwanted") return;
    this.#state = "open";
    this.flush();
  }

  /** Called when the port is lost, with everything in transit. */
  close(): void {
    const sent = this.#count.held - sizeOf(this.#waiting);
    this.#lost += sent;
    this.#count.leave(sent);
    this.#disarm();
    if (this.#state === "open") this.#state = "expected";
  }

  /**
   * Adds what `make` returns, if anything; it is not called when the record would be dropped, and
   * must not add another.
   */
  add(make: () => T | undefined): void {
    if (this.#state === "unwanted") return;
    if (!this.#count.enter()) return;
    const { perMessage, clock } = this.#options;
    const made = make();
    if (made === undefined) return this.#count.leave(1);
    const batch = this.#openBatch();
    batch.add(made);
    if (this.#state !== "open") return;
    if (batch.size >= perMessage) return this.flush();
    this.#timer ??= clock.timer(clock.monotonic() + GATHER_MS, () => this.flush());
  }

  flush(): void {
    this.#disarm();
    if (this.#state !== "open") return;
    for (const batch of this.#waiting.splice(0)) batch.post();
  }

  acknowledge(items: number): void {
    this.#count.leave(Math.min(items, this.#count.held - sizeOf(this.#waiting)));
  }

  status(): OutboxStatus {
    return { ...this.#count.status(), lost: this.#lost };
  }

  #openBatch(): Batch<T> {
    const last = this.#waiting.at(-1);
    if (last !== undefined && last.size < this.#options.perMessage) return last;
    const batch = this.#options.batch();
    this.#waiting.push(batch);
    return batch;
  }

  #disarm(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }
}

/** A batch that keeps its items. */
export function listBatch<T>(post: (items: readonly T[]) => void): Batch<T> {
  const items: T[] = [];
  return {
    get size() {
      return items.length;
    },
    add: (item) => void items.push(item),
    post: () => post(items),
  };
}

function sizeOf(batches: readonly Batch<never>[]): number {
  return batches.reduce((sum, { size }) => sum + size, 0);
}
