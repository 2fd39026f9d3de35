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

/** Why an observation is not stored. */
export type FlowRefusal = "expired" | "future";

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
  /** Minutes that may be held. */
  readonly capacity: number;
  /** Since the start. */
  readonly observations: number;
  /** Observations with a part in `__other__`, since the start. */
  readonly truncated: number;
  /** Begin of the first and the last minute held; undefined when there is none. */
  readonly times: { readonly earliestMs: number; readonly latestMs: number } | undefined;
}

/** The stores of all networks, for the status. */
export interface FlowStoresStatus {
  readonly profile: string;
  readonly retentionMs: number;
  readonly maxRecent: number;
  readonly estimatedBytes: number;
  readonly networks: readonly FlowStoreStatus[];
}
