/** Flows for the explorer, as plain data. */
import type { AccessPolicy, Judgement } from "../policy/access-policy.ts";
import type { Counters, trafficTypes } from "../flows/record.ts";

/** A connection within a window of the flow log. Texts are empty when unknown. */
export interface FlowObservation extends Counters {
  /** Milliseconds since 1970; undefined when the record has no time. */
  readonly timeMs: number | undefined;
  readonly trafficType: (typeof trafficTypes)[number];
  readonly transport: string;
  readonly srcAddr: string;
  readonly dstAddr: string;
  readonly srcNode: string;
  readonly dstNode: string;
  readonly dstPort: string;
  readonly dstService: string;
  readonly srcUser: string;
  readonly dstUser: string;
  /** Separated by commas. */
  readonly srcTags: string;
  readonly dstTags: string;
  readonly srcOs: string;
  readonly dstOs: string;
  readonly reporterNodeId: string;
  readonly reporterTrust: string;
  readonly reporterConsistency: string;
  /** Empty unless the traffic is physical. */
  readonly path: "" | "direct_ipv4" | "direct_ipv6" | "derp";
  readonly derpRegion: string;
  /** What the access policy says of it; empty where it is not compared. */
  readonly verdict: Judgement["verdict"];
  /** A rule permits it from destination to source. */
  readonly reversed: boolean;
  /** Index of the rule that permits it; -1 for none. */
  readonly rule: number;
  readonly policyVersion: string;
}

/** A stored connection. */
export interface StoredFlow extends FlowObservation {
  readonly timeMs: number;
  /** Number of its arrival, from 1, over all networks. */
  readonly seq: number;
}

/** Where a page continues: below this time and number. */
export type FlowPosition = Pick<StoredFlow, "timeMs" | "seq">;

/** Why an observation is not stored. */
export type FlowRefusal = "expired" | "future" | "queue_full";

/** Receives the flows of one network; never throws and never waits. */
export interface FlowSink {
  /** What connections are compared with. */
  readonly policy: AccessPolicy;
  /** Called once the name of the network is looked up. */
  named(network: string): void;
  /** Returns why it was not stored. */
  record(observation: FlowObservation): FlowRefusal | undefined;
}

/** Fill of a store. Times are milliseconds since 1970. */
export interface FlowStoreStatus {
  readonly buckets: number;
  /** Minutes that may be held; 0 where rows count. */
  readonly capacity: number;
  /** Since the start. */
  readonly observations: number;
  /** Observations with a part in `__other__`, or dropped by the queue, since the start. */
  readonly truncated: number;
  /** Begin of the first and the last minute held; undefined when there is none. */
  readonly times: { readonly earliestMs: number; readonly latestMs: number } | undefined;
  readonly backend: FlowBackendStatus;
}

/** Where a network's flows are kept. */
export interface FlowBackendStatus {
  readonly kind: FlowStoreKind;
  /** Of its file; undefined in memory. */
  readonly path: string | undefined;
  /** Why it takes no rows at present. */
  readonly error: string | undefined;
  /** Rows that wait to be written, and those dropped since the start because too many waited. */
  readonly queued: number;
  readonly queueDrops: number;
  /** On disk; 0 in memory. */
  readonly rows: number;
  readonly sizeBytes: number;
}

export type FlowStoreKind = "memory" | "lmdb";

/** The stores of all networks, for the status. */
export interface FlowStoresStatus {
  readonly kind: FlowStoreKind;
  /** Name of the limits: a profile of the store in memory, or `lmdb`. */
  readonly profile: string;
  readonly retentionMs: number;
  readonly maxRecent: number;
  readonly estimatedBytes: number;
  readonly networks: readonly FlowStoreStatus[];
  /** Why flows are not stored at present. */
  readonly errors: readonly string[];
}
