/** The newest rows below a position, at most so many. */
import type { FlowQuery } from "../flow-store.ts";
import { isBefore } from "../recent-flows.ts";
import type { StoredFlow } from "../types.ts";
import type { StoredBlock } from "./packed-block.ts";

export class Newest {
  readonly #most: number;
  readonly #before: FlowQuery["before"];
  #rows: StoredFlow[] = [];
  /** Older ones are not among them; undefined until there are enough. */
  #floor: Pick<StoredFlow, "timeMs" | "seq"> | undefined;

  constructor(most: number, before: FlowQuery["before"]) {
    this.#most = most;
    this.#before = before;
  }

  /** Whether some of its rows may be among them. */
  wants({ endMs, lastSeq }: StoredBlock): boolean {
    return this.#floor === undefined || isBefore(this.#floor, { timeMs: endMs, seq: lastSeq });
  }

  takes(timeMs: number, seq: number): boolean {
    const at = { timeMs, seq };
    return (
      (this.#before === undefined || isBefore(at, this.#before)) &&
      (this.#floor === undefined || isBefore(this.#floor, at))
    );
  }

  /** Sorts once for as many as are kept. */
  add(flow: StoredFlow): void {
    if (!this.takes(flow.timeMs, flow.seq)) return;
    this.#rows.push(flow);
    if (this.#rows.length >= 2 * this.#most) this.#cut();
  }

  /** Newest first. */
  rows(): readonly StoredFlow[] {
    this.#cut();
    return this.#rows;
  }

  #cut(): void {
    this.#rows.sort((left, right) => (isBefore(left, right) ? 1 : -1));
    this.#rows = this.#rows.slice(0, this.#most);
    if (this.#rows.length === this.#most) this.#floor = this.#rows.at(-1);
  }
}
