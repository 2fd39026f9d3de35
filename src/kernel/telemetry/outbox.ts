/**
 * Things on their way from their thread, e.g. log records. Bounded: what waits and what was sent
 * but not yet taken up are counted together, the newest beyond that is dropped and counted. What
 * waits outlives the loss of the port, what was sent does not.
 */
import type { Clock } from "../base/clock.ts";

/** Something waits at most this long for company. */
const GATHER_MS = 100;

/** Figures of an outbox. */
export interface OutboxStatus {
  readonly held: number;
  readonly capacity: number;
  /** Not taken because it was full. */
  readonly dropped: number;
  /** Sent to a telemetry thread that went away. */
  readonly lost: number;
}

/** What an outbox is made of. */
export interface OutboxOptions<T> {
  readonly clock: Clock;
  readonly capacity: number;
  readonly perMessage: number;
  readonly post: (items: readonly T[]) => void;
}

/** The outbox of one thread for one kind of thing. */
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
   * Whether things are to be kept for a port, which may still come. When not, what waits is
   * forgotten.
   */
  want(wanted: boolean): void {
    if (!wanted) this.#dropped += this.#waiting.splice(0).length;
    if (!wanted) this.#disarm();
    if (!wanted) this.#state = "unwanted";
    else if (this.#state === "unwanted") this.#state = "expected";
  }

  /** There is a port. */
  open(): void {
    if (this.#state === "unwanted") return;
    this.#state = "open";
    this.flush();
  }

  /** The port is gone, and what it carried with it. */
  close(): void {
    this.#lost += this.#sent;
    this.#sent = 0;
    this.#disarm();
    if (this.#state === "open") this.#state = "expected";
  }

  /** Takes what `make` makes, which is not called for what would be dropped. */
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
