/** The newest connections of a network, ordered by time and then by arrival. */
import type { StoredFlow } from "./types.ts";

/** Where a page continues: below this time and number. */
export type FlowPosition = Pick<StoredFlow, "timeMs" | "seq">;

/** Whether `left` is older than `right`. */
export function isBefore(left: FlowPosition, right: FlowPosition): boolean {
  return left.timeMs < right.timeMs || (left.timeMs === right.timeMs && left.seq < right.seq);
}

export class RecentFlows {
  readonly #maxFlows: number;
  /** Oldest first. */
  readonly #flows: StoredFlow[] = [];

  constructor(maxFlows: number) {
    this.#maxFlows = maxFlows;
  }

  get isFull(): boolean {
    return this.#flows.length >= this.#maxFlows;
  }

  /** Oldest first; changes with the next call. */
  get flows(): readonly StoredFlow[] {
    return this.#flows;
  }

  /** A full list leaves out a connection older than all of its own. */
  add(flow: StoredFlow): void {
    let at = this.#flows.length;
    for (let earlier = this.#flows[at - 1]; earlier !== undefined; earlier = this.#flows[at - 1]) {
      if (!isBefore(flow, earlier)) break;
      at -= 1;
    }
    if (at === 0 && this.isFull) return;
    this.#flows.splice(at, 0, flow);
    if (this.#flows.length > this.#maxFlows) this.#flows.shift();
  }

  /** Removes what is older than this. */
  expire(beforeMs: number): void {
    const kept = this.#flows.findIndex(({ timeMs }) => timeMs >= beforeMs);
    this.#flows.splice(0, kept === -1 ? this.#flows.length : kept);
  }
}
