/** Where flow records go, whichever way they came in: one conversion for all of them. */
import type { SeenDigests } from "../checkpoints/types.ts";

/** How a record came in. */
export type IngestSource = "poll" | "stream" | "objectstore";

/** Records of one batch, as parsed JSON. */
export interface FlowBatch {
  readonly records: readonly unknown[];
  readonly source: IngestSource;
  /**
   * End of the polled window that the batch is a part of: the limit of log records holds for all
   * parts together.
   */
  readonly windowEndMs?: number;
  /**
   * Of a polled window that is read again in part: connections that are in here were counted
   * before.
   */
  readonly replay?: { readonly seen: SeenDigests; readonly untilMs: number };
}

/** What became of a batch. */
export interface IntakeReport {
  readonly accepted: number;
  /** Records that were no record, or broke a rule, by reason. */
  readonly refused: Readonly<Record<string, number>>;
}

/** The one way of flow records into metrics and log records. */
export interface FlowIntake {
  /**
   * Gives way to other work; rejects with the signal's reason between two records, or when digests
   * cannot be stored.
   */
  accept(batch: FlowBatch, signal: AbortSignal): Promise<IntakeReport>;
  /** Moves what was rolled up into series. Called before each export and at the end. */
  flush(): void;
}

/** The same for records of the configuration audit. */
export interface AuditIntake {
  accept(
    batch: { readonly records: readonly unknown[]; readonly source: IngestSource },
    signal: AbortSignal,
  ): Promise<IntakeReport>;
}

/** A set of what was seen lately, as a status page shows it. */
export interface DedupSetStatus {
  /** `flow`, `audit`. */
  readonly name: string;
  readonly size: number;
  readonly capacity: number;
  readonly hits: number;
  readonly evictions: number;
}
