/**
 * Every message between the threads that write series and the telemetry thread.
 *
 *   writer (main, monitor)                 telemetry thread                    host (main) scope,
 *   rows, labels, snapshot, logs,   | <- snapshot?, ack, logs-ack,     | attach, flush, expose,
 *   credit, cancel, written, pull-stop, stop -> spans, figures, mark ->    one MessagePort each |
 *   spans-ack           parentPort | <- ready, ledger, log, output, flushed, chunk, pull-stopped,
 *   stopped
 */
import type { MessagePort } from "node:worker_threads";
import type { OutboxStatus } from "./outbox.ts";
import type { LedgerView, Observed } from "./status.ts";
import type { Attributes, AttributeValue, Kind, MetricCardinality, Severity } from "./types.ts";

/** Most series named or ended in one message, so that no message holds a thread up. */
export const LABELS_PER_MESSAGE = 2_000;
/** Most log records in one message. */
export const LOGS_PER_MESSAGE = 512;
/** Most spans in one message. */
export const SPANS_PER_MESSAGE = 512;
/**
 * Log records, or spans, that a writer may hold, waiting or unacknowledged, and as many before the
 * exporter.
 */
export const QUEUE_CAPACITY = 2_048;
/** Chunks of an exposition on their way to a reader. */
export const CHUNK_CREDIT = 4;

/** A copy of the columns of a scope's series. */
export interface SeriesCopy {
  readonly row: Uint16Array<ArrayBuffer>;
  readonly value: Float64Array<ArrayBuffer>;
  readonly start: Float64Array<ArrayBuffer>;
  readonly slab: Float64Array<ArrayBuffer>;
}

/** A copy of a scope's columns; the buffers are transferred. */
export interface Columns extends SeriesCopy {
  /** As `exemplarReader` reads it; undefined as long as there was no exemplar. */
  readonly exemplars: Float64Array<ArrayBuffer> | undefined;
}

/** A catalogue row under the number its writer gave it. */
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
 * Values in the order of the row's attributes; null = left out; the string "overflow" in place of
 * the list = the overflow series.
 */
export type WireValues = readonly (AttributeValue | null)[] | "overflow";

/** Where something belongs: identities as W3C writes them. */
export interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** A log record on its way. */
export interface WireLog {
  readonly scope: number;
  /** The event's name; empty for a line of the log. */
  readonly name: string;
  readonly severity: Severity;
  readonly body: string;
  readonly attributes: Attributes;
  readonly timeMs: number;
  readonly observedMs: number | undefined;
  readonly trace: TraceIds | undefined;
  /** Bytes that were cut of its body and of its attributes, when some were. */
  readonly cut?: { readonly body: number; readonly attribute: number };
}

/** Seconds and nanoseconds. */
type WireTime = [seconds: number, nanoseconds: number];

/** The identity of a span, as the SDK has it. */
export interface WireSpanContext extends TraceIds {
  readonly traceFlags: number;
  readonly traceState: string | undefined;
  readonly isRemote: boolean;
}

/** A span that has ended, on its way: what the SDK's span holds, as data. */
export interface WireSpan {
  readonly scope: number;
  readonly tracer: string;
  readonly name: string;
  readonly kind: number;
  readonly context: WireSpanContext;
  readonly parent: WireSpanContext | undefined;
  readonly start: WireTime;
  readonly end: WireTime;
  readonly duration: WireTime;
  readonly status: { readonly code: number; readonly message?: string };
  readonly attributes: Attributes;
  readonly links: readonly WireSpanContext[];
  readonly droppedAttributes: number;
}

/** Figures of a writer in another thread than the host's, which the host adds to its own. */
export interface WriterFigures {
  readonly logs: OutboxStatus;
  readonly spans: OutboxStatus;
  /** Of its scopes without constants: their series would meet those of the process's own scope. */
  readonly series: readonly SeriesFigures[];
}

/** Live series of one metric. */
export type SeriesFigures = Pick<MetricCardinality, "name" | "group" | "series" | "overflowing">;

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
      readonly births: readonly number[];
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
  | { readonly type: "logs"; readonly records: readonly WireLog[] }
  | { readonly type: "spans"; readonly spans: readonly WireSpan[] }
  | { readonly type: "figures"; readonly figures: WriterFigures }
  | { readonly type: "mark"; readonly mark: number };

/** To a writer. `ack` says that the numbers ended in that labels message may name other series. */
export type WriterReply =
  | { readonly type: "snapshot?"; readonly scope: number }
  | { readonly type: "ack"; readonly scope: number; readonly seq: number }
  | { readonly type: "logs-ack"; readonly records: number }
  | { readonly type: "spans-ack"; readonly spans: number };

/** Which series an exposition shows, and how. */
export interface ExposeQuery {
  readonly format: "text" | "openmetrics";
  /** Names of scopes; all unless given. */
  readonly scopes?: readonly string[];
  /** Catalogue names, or with a `.` or `_` at the end beginnings of such; all unless given. */
  readonly metrics?: readonly string[];
}

/**
 * From the host. Ports keep no order among them: what names a mark begins when the host's own
 * writer's mark has come.
 */
export type HostMessage =
  | { readonly type: "attach"; readonly port: MessagePort }
  | { readonly type: "flush"; readonly mark: number }
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
