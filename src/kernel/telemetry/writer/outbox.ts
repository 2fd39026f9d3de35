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

export interface OutboxOptions<T> {
  readonly clock: Clock;
  readonly capacity: number;
  readonly perMessage: number;
  readonly post: (items: readonly T[]) => void;
}

/** The outbox of one thread for one kind of record. */
export class Outbox<T> {
  readonly #options: OutboxOptions<T>;
  /** Waiting records and unacknowledged ones. */
  readonly #count: QueueCount;
  #waiting: T[] = [];
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
    if (!wanted) this.#count.drop(this.#waiting.splice(0).length);
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
    const sent = this.#count.held - this.#waiting.length;
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
    this.#waiting.push(made);
    if (this.#state !== "open") return;
    if (this.#waiting.length >= perMessage) return this.flush();
    this.#timer ??= clock.timer(clock.monotonic() + GATHER_MS, () => this.flush());
  }

  flush(): void {
    this.#disarm();
    if (this.#state !== "open") return;
    while (this.#waiting.length > 0) {
      this.#options.post(this.#waiting.splice(0, this.#options.perMessage));
    }
  }

  acknowledge(items: number): void {
    this.#count.leave(Math.min(items, this.#count.held - this.#waiting.length));
  }

  status(): OutboxStatus {
    return { ...this.#count.status(), lost: this.#lost };
  }

  #disarm(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }
}
