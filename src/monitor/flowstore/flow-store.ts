/** The interface of flow stores, in memory and on disk. */
import type { Clock } from "../../kernel/base/clock.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { Health } from "../../kernel/supervisor/component.ts";
import type { FlowTables } from "./bucket.ts";
import type { Counts } from "./sums.ts";
import type {
  FlowPosition,
  FlowSink,
  FlowStoreKind,
  FlowStoresStatus,
  FlowStoreStatus,
  StoredFlow,
} from "./types.ts";

/** Milliseconds since 1970, both inclusive. */
export interface FlowWindow {
  readonly startMs: number;
  readonly endMs: number;
}

/** Empty texts do not filter. */
export interface FlowFilter {
  readonly device: string;
  readonly addr: string;
  readonly service: string;
  readonly identity: string;
  readonly type: string;
  readonly verdict: string;
  readonly path: string;
}

export interface FlowQuery extends FlowWindow {
  readonly filter: FlowFilter;
  readonly limit: number;
  /** Undefined begins with the newest. */
  readonly before: FlowPosition | undefined;
}

export interface FlowSelection {
  /** Newest first, below the position; one more than the limit where there are more. */
  readonly rows: readonly StoredFlow[];
  /** Connections that filters and window select, on all pages. */
  readonly matched: number;
  readonly retained: number;
  /** It holds as many connections as it may. */
  readonly isFull: boolean;
}

/** Sums of a part of a window. */
export interface FlowPart {
  readonly tables: FlowTables;
  /** Totals of minutes, by their begin. */
  readonly minutes: Iterable<readonly [beginMs: number, counts: Counts]>;
  /** Observations with a part in `__other__`. */
  readonly truncated: number;
}

export interface FlowStore extends FlowSink {
  /** The looked-up name, or the configured one. */
  readonly network: string;
  status(): FlowStoreStatus;
  /**
   * The sums of a window, part by part; memory has whole minutes, a disk exactly the window. Rejects
   * with the signal's reason.
   */
  parts(window: FlowWindow, signal: AbortSignal): AsyncIterable<FlowPart> | Iterable<FlowPart>;
  /** Single connections. Rejects with the signal's reason. */
  select(query: FlowQuery, signal: AbortSignal): Promise<FlowSelection>;
}

/** Those of all networks. */
export interface FlowStores {
  readonly kind: FlowStoreKind;
  readonly retentionMs: number;
  /** Connections in one export; all of them where memory limits them. */
  readonly maxExportRows: number;
  /** Undefined: questions are answered from memory. */
  readonly queryTimeoutMs: number | undefined;
  /** In the order of the configuration. */
  readonly all: readonly FlowStore[];
  /** By the configured name; undefined for a network without a store. */
  of(network: string): FlowStore | undefined;
  status(): FlowStoresStatus;
  health(): Health;
  /** Writes what waits. Never rejects. */
  close(): Promise<void>;
}

export interface FlowStoresDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
}
