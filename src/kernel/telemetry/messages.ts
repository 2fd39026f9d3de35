/**
 * Every message between the threads that write series and the telemetry thread.
 *
 *   writer (main, monitor)             telemetry thread                   host (main)
 *   scope, rows, labels, snapshot,  ->|                  |<- attach, flush, expose, credit,
 *   closed, logs, spans, figures,     |                  |   cancel, written, pull-stop, stop
 *   mark                              |                  |
 *   snapshot?, ack, logs-ack,       <-|                  |-> ready, ledger, log, output, flushed,
 *   spans-ack                         |                  |   chunk, pull-stopped, stopped
 *        one MessagePort each                                  parentPort
 */
import type { MessagePort } from "node:worker_threads";
import type { OutboxStatus } from "./writer/outbox.ts";
import type { LedgerView, Observed } from "./status.ts";
import type { Attributes, AttributeValue, Kind, SeriesFigures, WireSpan } from "./types.ts";

/**
 * Maximum number of series started or ended in one message, so that no message blocks a thread for
 * long.
 */
export const LABELS_PER_MESSAGE = 2_000;
export const LOGS_PER_MESSAGE = 512;
export const SPANS_PER_MESSAGE = 512;
/**
 * Log records, or spans, that a writer may hold, waiting or unacknowledged; the exporter's queue
 * has the same capacity.
 */
export const QUEUE_CAPACITY = 2_048;
/** Chunks of an exposition in transit to a reader. */
export const CHUNK_CREDIT = 4;

export interface SeriesCopy {
  readonly row: Uint32Array<ArrayBuffer>;
  readonly value: Float64Array<ArrayBuffer>;
  readonly start: Float64Array<ArrayBuffer>;
  readonly slab: Float64Array<ArrayBuffer>;
}

/** A copy of a scope's columns; its buffers are transferred. */
export interface Columns extends SeriesCopy {
  /** Read with `exemplarReader`; undefined until there is an exemplar. */
  readonly exemplars: Float64Array<ArrayBuffer> | undefined;
}

/** A catalogue row under the number its writer assigned. */
export interface WireRow {
  readonly number: number;
  readonly name: string;
  readonly kind: Kind;
  readonly unit: string;
  readonly attributes: readonly string[];
  readonly help: string;
  readonly bounds: readonly number[];
  readonly verbatim: boolean;
}

/**
 * Values in the order of the row's attributes; null where absent; "overflow" instead of the list
 * for the overflow series.
 */
export type WireValues = readonly (AttributeValue | null)[] | "overflow";

/** Log records of one message, written by `LogEncoder`. */
export interface EncodedLogs {
  /** LogRecord messages of OTLP, one after the other; transferred. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The scope of each record. */
  readonly scopes: readonly number[];
  /** Where each record ends in the bytes. */
  readonly ends: readonly number[];
  /** Truncated bytes of body and attributes, for each record that has any. */
  readonly cuts: readonly { readonly body: number; readonly attribute: number }[];
}

/** Figures of a writer in a thread other than the host's; the host adds them to its own. */
export interface WriterFigures {
  readonly logs: OutboxStatus;
  readonly spans: OutboxStatus;
  /**
   * Of its scopes without constant attributes: their series would collide with those of the
   * process's own scope.
   */
  readonly series: readonly SeriesFigures[];
}

/** From a writer. */
export type WriterMessage =
  | {
      readonly type: "scope";
      readonly scope: number;
      readonly name: string;
      readonly resource: Attributes;
      readonly logResource: Attributes;
      readonly constants: Attributes;
    }
  | { readonly type: "rows"; readonly rows: readonly WireRow[] }
  | {
      readonly type: "labels";
      readonly scope: number;
      readonly seq: number;
      readonly started: readonly number[];
      readonly rows: readonly number[];
      readonly values: readonly WireValues[];
      readonly ended: readonly number[];
    }
  | {
      readonly type: "snapshot";
      readonly scope: number;
      readonly atMs: number;
      readonly columns: Columns;
    }
  | { readonly type: "closed"; readonly scope: number }
  | { readonly type: "logs"; readonly records: EncodedLogs }
  | { readonly type: "spans"; readonly spans: readonly WireSpan[] }
  | { readonly type: "figures"; readonly figures: WriterFigures }
  | { readonly type: "mark"; readonly mark: number };

/** To a writer. `ack` allows it to reuse the numbers that ended in that labels message. */
export type WriterReply =
  | { readonly type: "snapshot?"; readonly scope: number }
  | { readonly type: "ack"; readonly scope: number; readonly seq: number }
  | { readonly type: "logs-ack"; readonly records: number }
  | { readonly type: "spans-ack"; readonly spans: number };

export interface ExposeQuery {
  readonly format: "text" | "openmetrics";
  /** Names of scopes; all by default. */
  readonly scopes?: readonly string[];
  /** Catalogue names, or prefixes ending in `.` or `_`; all by default. */
  readonly metrics?: readonly string[];
}

/**
 * From the host. Messages on different ports are not ordered: whatever names a mark starts when
 * that mark of the host's own writer has arrived.
 */
export type HostMessage =
  | {
      readonly type: "attach";
      readonly port: MessagePort;
      /** The memory of a `Fence`: while it is closed, nothing that arrives by the port leaves. */
      readonly fence: SharedArrayBuffer | undefined;
    }
  | { readonly type: "flush"; readonly mark: number; readonly after: number | undefined }
  | {
      readonly type: "expose";
      readonly mark: number;
      readonly id: number;
      readonly query: ExposeQuery;
    }
  | { readonly type: "credit"; readonly id: number }
  | { readonly type: "cancel"; readonly id: number }
  | { readonly type: "written"; readonly id: number }
  | { readonly type: "pull-stop"; readonly deadlineMs: number }
  | { readonly type: "stop"; readonly mark: number; readonly deadlineMs: number };

/** To the host. */
export type HostReply =
  | { readonly type: "ready" }
  | { readonly type: "ledger"; readonly ledger: LedgerView; readonly observed: readonly Observed[] }
  | {
      readonly type: "log";
      readonly level: "info" | "warn" | "error";
      readonly message: string;
      readonly fields: Readonly<Record<string, unknown>>;
    }
  | { readonly type: "output"; readonly id: number; readonly text: string }
  | { readonly type: "pull-stopped" }
  | { readonly type: "flushed"; readonly mark: number }
  | {
      readonly type: "chunk";
      readonly id: number;
      readonly bytes: Uint8Array<ArrayBuffer> | undefined;
      readonly failure: string | undefined;
      readonly last: boolean;
    }
  | { readonly type: "stopped" };
