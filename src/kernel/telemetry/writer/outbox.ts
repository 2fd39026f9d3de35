/**
 * A bounded queue of records sent to the telemetry thread. Waiting and unacknowledged records count
 * together; further ones are dropped and counted. Waiting records survive the loss of the port,
 * sent ones do not.
 */
import type { Clock } from "../../base/clock.ts";

/** Maximum time a record waits for a batch. */
const GATHER_MS = 100;

export interface OutboxStatus {
  readonly held: number;
  readonly capacity: number;
  /** Rejected because the queue was full. */
  readonly dropped: number;
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
  #waiting: T[] = [];
  #sent = 0;
  #dropped = 0;
  #lost = 0;
  #state: "unwanted" | "expected" | "open" = "unwanted";
  #timer: Disposable | undefined;

  constructor(options: OutboxOptions<T>) {
    this.#options = options;
  }

  /**
   * Whether records are kept for a port that may still come; when not, waiting ones are discarded.
   */
  want(wanted: boolean): void {
    if (!wanted) this.#dropped += this.#waiting.splice(0).length;
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
    this.#lost += this.#sent;
    this.#sent = 0;
    this.#disarm();
    if (this.#state === "open") this.#state = "expected";
  }

  /** Adds the result of `make`, which is not called when the record would be dropped. */
  add(make: () => T): void {
    if (this.#state === "unwanted") return;
    const { capacity, perMessage, clock } = this.#options;
    if (this.#waiting.length + this.#sent >= capacity) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(make());
    if (this.#state !== "open") return;
    if (this.#waiting.length >= perMessage) return this.flush();
    this.#timer ??= clock.timer(clock.monotonic() + GATHER_MS, () => this.flush());
  }

  flush(): void {
    this.#disarm();
    if (this.#state !== "open") return;
    while (this.#waiting.length > 0) {
      const items = this.#waiting.splice(0, this.#options.perMessage);
      this.#sent += items.length;
      this.#options.post(items);
    }
  }

  acknowledge(items: number): void {
    this.#sent = Math.max(0, this.#sent - items);
  }

  status(): OutboxStatus {
    return {
      held: this.#waiting.length + this.#sent,
      capacity: this.#options.capacity,
      dropped: this.#dropped,
      lost: this.#lost,
    };
  }

  #disarm(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }
}
