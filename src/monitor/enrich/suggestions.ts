/**
 * What flow records say of nodes: not verified by anybody, hence kept apart, for half an hour, and
 * bounded.
 */
import type { Clock } from "../../kernel/base/clock.ts";

/** Nodes remembered. */
export const MOST_SUGGESTIONS = 2_048;
/** Nodes forgotten at once when there are more, those not mentioned for longest. */
export const EVICTED_AT_ONCE = 256;
/** Addresses of one node. */
export const ADDRESSES_PER_NODE = 8;
/** A node that is not mentioned again is forgotten after this. */
export const SUGGESTION_TTL_MS = 30 * 60_000;
/**
 * How often it is looked for those that are forgotten, and how fresh a mention must be to be left
 * as it is.
 */
const PRUNE_MS = 60_000;

/** A node as a reporter described it. */
export interface SuggestedNode {
  readonly nodeId: string;
  readonly name: string;
  readonly addresses: readonly string[];
}

interface Entry {
  readonly name: string;
  readonly addresses: readonly string[];
  mentionedMs: number;
}

/** The unverified tier. */
export class Suggestions {
  readonly #clock: Pick<Clock, "monotonic">;
  /** By node id, in the order in which they were last mentioned. */
  readonly #nodes = new Map<string, Entry>();
  readonly #byAddress = new Map<string, Entry>();
  #prunedMs: number;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
    this.#prunedMs = clock.monotonic();
  }

  get size(): number {
    return this.#nodes.size;
  }

  /** Remembers or refreshes a node. The one who spoke last is right about an address. */
  add({ nodeId, name, addresses }: SuggestedNode): void {
    if (nodeId === "" || name === "" || addresses.length === 0) return;
    const nowMs = this.#clock.monotonic();
    const known = this.#nodes.get(nodeId);
    if (
      known !== undefined &&
      known.name === name &&
      same(known.addresses, addresses) &&
      nowMs - known.mentionedMs < PRUNE_MS
    )
      return;
    this.#prune(nowMs);
    if (known !== undefined) this.#forget(nodeId, known);
    if (this.#nodes.size >= MOST_SUGGESTIONS) this.#evict();
    const entry: Entry = {
      name,
      addresses: addresses.slice(0, ADDRESSES_PER_NODE),
      mentionedMs: nowMs,
    };
    this.#nodes.set(nodeId, entry);
    for (const address of entry.addresses) this.#byAddress.set(address, entry);
  }

  /** The first label of the name of who is said to have the address. */
  hostnameAt(address: string): string | undefined {
    const entry = this.#byAddress.get(address);
    if (entry === undefined || this.#clock.monotonic() - entry.mentionedMs >= SUGGESTION_TTL_MS)
      return undefined;
    return entry.name.split(".", 1)[0];
  }

  clear(): void {
    this.#nodes.clear();
    this.#byAddress.clear();
  }

  #prune(nowMs: number): void {
    if (nowMs - this.#prunedMs < PRUNE_MS) return;
    this.#prunedMs = nowMs;
    for (const [nodeId, entry] of this.#nodes) {
      if (nowMs - entry.mentionedMs < SUGGESTION_TTL_MS) return;
      this.#forget(nodeId, entry);
    }
  }

  #evict(): void {
    let left = EVICTED_AT_ONCE;
    for (const [nodeId, entry] of this.#nodes) {
      if (left === 0) return;
      this.#forget(nodeId, entry);
      left -= 1;
    }
  }

  #forget(nodeId: string, entry: Entry): void {
    this.#nodes.delete(nodeId);
    for (const address of entry.addresses)
      if (this.#byAddress.get(address) === entry) this.#byAddress.delete(address);
  }
}

function same(left: readonly string[], right: readonly string[]): boolean {
  const most = Math.min(right.length, ADDRESSES_PER_NODE);
  return left.length === most && left.every((address, at) => address === right[at]);
}
