/**
 * Whether a connection was counted before: by what this process saw lately, and by what was stored
 * of replayed windows.
 */
import { hash } from "node:crypto";
import { SeenKeys } from "../ingest/seen-keys.ts";
import type { Connection, FlowRecord } from "./record.ts";
import { trafficTypes } from "./record.ts";
import type { DedupSetStatus, FlowBatch, IngestSource } from "./types.ts";

/** Connections remembered in memory. */
export const FLOW_SET_CAPACITY = 16_384;
/** Columns of a key: the counters, and who saw it first. */
const WIDTH = 5;
const FIRST_SOURCE = 4;
const sources: readonly IngestSource[] = ["poll", "stream", "objectstore"];

/**
 * What is known of a connection. A conflict is a repetition with other counters; the first ones
 * stay.
 */
export type Sighting = "new" | "repeated" | "poll_boundary" | "cross_source";

/** The durable half of a batch: what it may ask, and what it will add. */
export interface Replay {
  readonly seen: NonNullable<FlowBatch["replay"]>["seen"];
  readonly digests: string[];
}

/** The set of one network, shared by all ways in. */
export class FlowDedup {
  readonly #seen = new SeenKeys(FLOW_SET_CAPACITY, WIDTH);

  /** First sighting wins. With `replay` a digest of what is new is put to those to be stored. */
  sight(
    key: string,
    counters: Pick<Connection, "txBytes" | "rxBytes" | "txPackets" | "rxPackets">,
    source: IngestSource,
    replay: Replay | undefined,
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
    // Hashed only when memory does not know it: the digest costs more than the rest.
    const digest = replay === undefined ? "" : hash("sha256", key, "hex");
    if (replay?.seen.has(digest) === true) {
      this.#seen.hit();
      return "repeated";
    }
    this.#seen.add(key, [txBytes, rxBytes, txPackets, rxPackets, sources.indexOf(source)]);
    replay?.digests.push(digest);
    return "new";
  }

  status(): DedupSetStatus {
    const { hits, evictions } = this.#seen.counts;
    return { name: "flow", size: this.#seen.size, capacity: this.#seen.capacity, hits, evictions };
  }
}

/**
 * What is common to the keys of a record's connections. Only the node id is free text, and it
 * stands first, so keys of different connections differ.
 */
export function recordKey({
  nodeId,
  start,
  end,
}: Pick<FlowRecord, "nodeId" | "start" | "end">): string {
  return `${nodeId}|${start?.key ?? ""}|${end?.key ?? ""}|`;
}

/** The key of a connection: every dimension that makes it this one. */
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
