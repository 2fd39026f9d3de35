/**
 * Delivery status per signal and error class, as kept by the telemetry thread and shown on the
 * status page.
 */
import type { CertificateStatus } from "../listen/tls/certificates.ts";
import type { SeriesFigures } from "./types.ts";
import type { OutboxStatus } from "./writer/outbox.ts";
import type { QueueStatus } from "../async/queue-count.ts";

export type Signal = "metrics" | "logs" | "traces";

export const signals: readonly Signal[] = ["metrics", "logs", "traces"];

/** Why an export failed; values of `svc.export.failures`. */
export type ErrorClass =
  | "timeout"
  | "canceled"
  | "unauthenticated"
  | "rate_limited"
  | "unavailable"
  | "invalid"
  | "other";

/** Delivery of one signal since the thread started. Counts requests, not flushes. */
export interface SignalLedger {
  readonly requests: number;
  readonly failures: number;
  readonly consecutiveFailures: number;
  readonly failuresByClass: Readonly<Partial<Record<ErrorClass, number>>>;
  /** Points, records or spans in successful requests. */
  readonly items: number;
  /** Points, records or spans in failed requests. */
  readonly itemsLost: number;
  /** Successful requests of which the receiver rejected a part. */
  readonly partialSuccesses: number;
  readonly itemsRejected: number;
  /** Milliseconds since 1970. */
  readonly lastSuccessMs: number | undefined;
  readonly lastFailureMs: number | undefined;
  readonly lastFailureClass: ErrorClass | undefined;
  /** The transport's message, without credentials in URLs. */
  readonly lastFailureMessage: string | undefined;
  /** Total duration of requests in seconds. */
  readonly seconds: number;
}

/** A queue that does not exist. */
export const noQueue: QueueStatus = { held: 0, capacity: 0, dropped: 0 };

/** Why series were omitted from an answer of the pull endpoint. */
export type GatherErrorClass =
  | "duplicate_series"
  | "label_inconsistent"
  | "type_mismatch"
  | "collector_error"
  | "other";

/**
 * Result of a request to the pull endpoint: 2xx; 503; anything else, including an aborted answer.
 */
export type PullOutcome = "success" | "unavailable" | "error";

/**
 * Why the pull endpoint rejected a request: it has no token and is reachable from other machines;
 * credential missing; credential wrong.
 */
export type PullRejection = "auth_required" | "missing_credentials" | "bad_credentials";

/** The pull endpoint since the thread started. Counts authenticated requests only. */
export interface PullView {
  readonly state: "starting" | "serving" | "failed" | "stopped";
  /** The bound address; undefined unless serving. */
  readonly address: string | undefined;
  /** Why opening the port failed. */
  readonly reason: string | undefined;
  /** How often opening the port failed. */
  readonly failures: number;
  readonly requests: Readonly<Record<PullOutcome, number>>;
  readonly inFlight: number;
  readonly rejected: Readonly<Record<PullRejection, number>>;
  readonly lastAtMs: number | undefined;
  readonly lastMs: number | undefined;
  readonly gatherErrors: Readonly<Partial<Record<GatherErrorClass, number>>>;
  readonly lastGatherError: GatherErrorClass | undefined;
  readonly lastGatherErrorAtMs: number | undefined;
  readonly certificate: CertificateStatus | undefined;
}

/** Fields of log records truncated before export. */
interface CutView {
  readonly records: number;
  readonly bytes: number;
}

/** One duration, for a histogram. */
export type Observed =
  | {
      readonly of: "export";
      readonly signal: Signal;
      readonly outcome: "success" | "failure";
      readonly seconds: number;
    }
  | { readonly of: "pull"; readonly outcome: PullOutcome; readonly seconds: number };

/** Log lines about failed exports that were suppressed during an outage of one signal and class. */
export interface SuppressedLines {
  readonly signal: Signal;
  readonly errorClass: ErrorClass;
  readonly lines: number;
}

/** The delivery counters of the telemetry thread. */
export interface LedgerView {
  readonly signals: Readonly<Record<Signal, SignalLedger>>;
  /** Exports without points because the previous snapshot was still pending. */
  readonly snapshotsSkipped: number;
  /** The queues in front of the exporters. */
  readonly logs: QueueStatus;
  readonly traces: QueueStatus;
  readonly exposition: {
    readonly running: number;
    readonly gathers: number;
    readonly duplicateSeries: number;
    readonly conflictingFamilies: number;
  };
  /** Truncated log records by field. */
  readonly cut: Readonly<Record<"body" | "attribute", CutView>>;
  /** Undefined when there is no pull endpoint. */
  readonly pull: PullView | undefined;
  readonly others: OtherWriters;
}

/**
 * Figures of writers in other threads as of their last snapshots, summed; losses of closed writers
 * stay counted.
 */
export interface OtherWriters {
  readonly logs: OutboxStatus;
  readonly traces: OutboxStatus;
  readonly series: readonly SeriesFigures[];
}

export const noOtherWriters: OtherWriters = {
  logs: { held: 0, capacity: 0, dropped: 0, lost: 0 },
  traces: { held: 0, capacity: 0, dropped: 0, lost: 0 },
  series: [],
};

export const emptySignalLedger: SignalLedger = {
  requests: 0,
  failures: 0,
  consecutiveFailures: 0,
  failuresByClass: {},
  items: 0,
  itemsLost: 0,
  partialSuccesses: 0,
  itemsRejected: 0,
  lastSuccessMs: undefined,
  lastFailureMs: undefined,
  lastFailureClass: undefined,
  lastFailureMessage: undefined,
  seconds: 0,
};

export interface TelemetryStatus {
  /** `off`: nothing exports and nothing is scraped, so there is no thread. */
  readonly thread: "off" | "starting" | "running" | "failed" | "stopped";
  /** As last reported by the telemetry thread. */
  readonly ledger: LedgerView | undefined;
  readonly series: number;
  readonly labelBytes: number;
  /** Whether the process-wide ceiling of series or label bytes was reached. */
  readonly ceilingReached: boolean;
  /** Log records queued for the telemetry thread. */
  readonly logs: OutboxStatus;
  readonly spans: OutboxStatus;
  readonly suppressed: readonly SuppressedLines[];
}
