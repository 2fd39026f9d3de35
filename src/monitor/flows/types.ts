/** Interfaces of flow and audit intake, shared by all sources. */
import type { SeenDigests } from "../checkpoints/types.ts";
import type { UnfinishedWindow } from "../ingest/unfinished-window.ts";
import type { FlowRecord } from "./record.ts";

/** Source of a record. */
export type IngestSource = "poll" | "stream" | "objectstore";

/** Records of one batch, as parsed JSON. */
export interface FlowBatch {
  readonly records: readonly unknown[];
  readonly source: IngestSource;
  /** End of the polled window; the log record limit applies to all batches of one window. */
  readonly windowEndMs?: number;
  /** For an overlapping window: connections listed here were counted before. */
  readonly replay?: { readonly seen: SeenDigests; readonly untilMs: number };
  /** For a polled window: what its failed reads have counted. */
  readonly unfinished?: UnfinishedWindow;
}

/** Audit events of one batch, as parsed JSON. */
export interface AuditBatch {
  readonly records: readonly unknown[];
  readonly source: IngestSource;
  /** As of a `FlowBatch`. */
  readonly unfinished?: UnfinishedWindow;
}

/** Result of a batch. */
export interface IntakeReport {
  readonly accepted: number;
  /** Rejected records by reason. */
  readonly refused: Readonly<Record<string, number>>;
}

/** Converts flow records to metrics and log records. */
export interface FlowIntake {
  /**
   * Yields to the event loop. Rejects with the signal's reason between two records, or when digests
   * cannot be stored.
   */
  accept(batch: FlowBatch, signal: AbortSignal): Promise<IntakeReport>;
  /** Writes rolled-up sums to the scope. Called before each export and at the end. */
  flush(): void;
}

/** Also takes records that a receiver has decoded and validated, so that they are decoded once. */
export interface DecodedFlowIntake extends FlowIntake {
  /** As `accept` of a batch without window and replay, in which nothing is refused. */
  acceptDecoded(
    records: readonly FlowRecord[],
    source: IngestSource,
    signal: AbortSignal,
  ): Promise<void>;
}

/** The same for audit records. */
export interface AuditIntake {
  accept(batch: AuditBatch, signal: AbortSignal): Promise<IntakeReport>;
}

/** A deduplication set, for the status. */
export interface DedupSetStatus {
  /** `flow` or `audit`. */
  readonly name: string;
  readonly size: number;
  readonly capacity: number;
  readonly hits: number;
  readonly evictions: number;
}
