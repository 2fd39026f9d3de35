/** The newest connections of a network, ordered by time and then by arrival. */
import type { FlowPosition, StoredFlow } from "./types.ts";

/** Whether `left` is older than `right`. */
export function isBefore(left: FlowPosition, right: FlowPosition): boolean {
  return left.timeMs < right.timeMs || (left.timeMs === right.timeMs && left.seq < right.seq);
}

export class RecentFlows {
  readonly #maxFlows: number;
  /** Oldest first, except for those added since the last look. */
  #flows: StoredFlow[] = [];
  #isOrdered = true;
  /** Older ones are not among the newest. */
  #floorMs = Number.NEGATIVE_INFINITY;

  constructor(maxFlows: number) {
    this.#maxFlows = maxFlows;
  }

  get isFull(): boolean {
    return this.flows.length >= this.#maxFlows;
  }

  /** Oldest first; the next call may change it. */
  get flows(): readonly StoredFlow[] {
    this.#order();
    return this.#flows;
  }

  /** Whether a connection of this time is among the newest, as far as is known without sorting. */
  takes(timeMs: number): boolean {
    return timeMs >= this.#floorMs;
  }

  /** The oldest ones beyond the limit go. Sorts once for as many as are kept. */
  add(flow: StoredFlow): void {
    this.#flows.push(flow);
    this.#isOrdered = false;
    if (this.#flows.length >= 2 * this.#maxFlows) this.#order();
  }

  /** Removes what is older than this. */
  expire(beforeMs: number): void {
    this.#order();
    const kept = this.#flows.findIndex(({ timeMs }) => timeMs >= beforeMs);
    const expired = kept === -1 ? this.#flows.length : kept;
    this.#flows.splice(0, expired);
    if (expired > 0) this.#floorMs = Number.NEGATIVE_INFINITY;
  }

  #order(): void {
    if (this.#isOrdered) return;
    this.#flows.sort((left, right) => left.timeMs - right.timeMs || left.seq - right.seq);
    if (this.#flows.length > this.#maxFlows) this.#flows = this.#flows.slice(-this.#maxFlows);
    if (this.#flows.length === this.#maxFlows)
      this.#floorMs = this.#flows[0]?.timeMs ?? Number.NEGATIVE_INFINITY;
    this.#isOrdered = true;
  }
}
