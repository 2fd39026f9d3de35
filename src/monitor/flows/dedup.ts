/** Deduplicates connections, by memory and by stored digests of replayed windows. */
import { hash } from "node:crypto";
import { SeenKeys } from "../ingest/seen-keys.ts";
import type { Connection, FlowRecord } from "./record.ts";
import { trafficTypes } from "./record.ts";
import type { DedupSetStatus, FlowBatch, IngestSource } from "./types.ts";

/** Connections remembered in memory. */
export const FLOW_SET_CAPACITY = 16_384;
/** Numbers per key: four counters and the first source. */
const WIDTH = 5;
const FIRST_SOURCE = 4;
const sources: readonly IngestSource[] = ["poll", "stream", "objectstore"];

/**
 * `repeated` has the counters of the first sighting. `poll_boundary` (both polled) and
 * `cross_source` have different ones; the first are kept.
 */
export type Sighting = "new" | "repeated" | "poll_boundary" | "cross_source";

/** Stored digests of a batch, and those to add. */
interface Replay {
  readonly seen: NonNullable<FlowBatch["replay"]>["seen"];
  readonly digests: string[];
}

/** Where connections come from, and what is known of a polled window. */
export interface Origin {
  readonly source: IngestSource;
  readonly replay?: Replay | undefined;
  readonly unfinished?: FlowBatch["unfinished"];
}

/** One per network, shared by all sources. */
export class FlowDedup {
  readonly #seen = new SeenKeys(FLOW_SET_CAPACITY, WIDTH);

  /**
   * The first sighting counts. With `replay`, digests of new connections are collected for storing.
   */
  classify(
    key: string,
    counters: Pick<Connection, "txBytes" | "rxBytes" | "txPackets" | "rxPackets">,
    { source, replay, unfinished }: Origin,
  ): Sighting {
    const { txBytes, rxBytes, txPackets, rxPackets } = counters;
    const slot = this.#seen.find(key);
    if (slot !== undefined) {
      this.#seen.hit();
      const equal =
        this.#seen.number(slot, 0) === txBytes &&
        this.#seen.number(slot, 1) === rxBytes &&
        this.#seen.number(slot, 2) === txPackets &&
        this.#seen.number(slot, 3) === rxPackets;
      if (equal) return "repeated";
      return source === "poll" && sources[this.#seen.number(slot, FIRST_SOURCE)] === "poll"
        ? "poll_boundary"
        : "cross_source";
    }
    const add = (): void =>
      this.#seen.add(key, [txBytes, rxBytes, txPackets, rxPackets, sources.indexOf(source)]);
    // Hashed only on a memory miss, since hashing dominates the cost.
    const digest =
      replay === undefined && unfinished === undefined ? "" : hash("sha256", key, "hex");
    if (unfinished?.take(digest) === true) {
      // Perhaps at the edge of the window, where the next one meets it.
      add();
      this.#seen.hit();
      return "repeated";
    }
    if (replay?.seen.has(digest) === true) {
      this.#seen.hit();
      return "repeated";
    }
    add();
    replay?.digests.push(digest);
    unfinished?.add(digest);
    return "new";
  }

  status(): DedupSetStatus {
    const { hits, evictions } = this.#seen.counts;
    return { name: "flow", size: this.#seen.size, capacity: this.#seen.capacity, hits, evictions };
  }
}

/**
 * Common prefix of the keys of a record's connections. The node id, the only free text, comes
 * first, so that keys are unambiguous.
 */
export function recordKey({
  nodeId,
  start,
  end,
}: Pick<FlowRecord, "nodeId" | "start" | "end">): string {
  return `${nodeId}|${start?.key ?? ""}|${end?.key ?? ""}|`;
}

/** Includes every dimension that identifies a connection. */
export function connectionKey(
  prefix: string,
  {
    type,
    protocol,
    sourceText,
    destinationText,
  }: Pick<Connection, "type" | "protocol" | "sourceText" | "destinationText">,
): string {
  return `${prefix}${trafficTypes[type]}|${protocol ?? ""}|${sourceText}|${destinationText}`;
}
