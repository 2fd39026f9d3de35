/** Node names and addresses from flow records: unverified, bounded, and kept for half an hour. */
import type { Clock } from "../../kernel/base/clock.ts";

export const MAX_SUGGESTIONS = 2_048;
/** Nodes evicted at once, least recently mentioned first. */
export const EVICTED_AT_ONCE = 256;
export const ADDRESSES_PER_NODE = 8;
/** Nodes not mentioned again expire after this. */
export const SUGGESTION_TTL_MS = 30 * 60_000;
/** Interval of expiry; a mention more recent than this is not refreshed. */
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

export class Suggestions {
  readonly #clock: Pick<Clock, "monotonic">;
  /** By node id, least recently mentioned first. */
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

  /** Adds or refreshes a node. The latest suggestion for an address wins. */
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
    if (this.#nodes.size >= MAX_SUGGESTIONS) this.#evict();
    const entry: Entry = {
      name,
      addresses: addresses.slice(0, ADDRESSES_PER_NODE),
      mentionedMs: nowMs,
    };
    this.#nodes.set(nodeId, entry);
    for (const address of entry.addresses) this.#byAddress.set(address, entry);
  }

  /** First label of the suggested host name of an address. */
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
