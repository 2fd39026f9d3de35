/**
 * What is known about delivery: numbers per signal and error class, as the telemetry thread keeps
 * them and a status page shows them.
 */
import type { CertificateStatus } from "../listen/certificates.ts";
import type { SeriesFigures } from "./messages.ts";
import type { OutboxStatus } from "./outbox.ts";

/** What is exported. */
export type Signal = "metrics" | "logs" | "traces";

/** All signals. */
export const signals: readonly Signal[] = ["metrics", "logs", "traces"];

/** Why an export failed, in the vocabulary of `svc.export.failures`. */
export type ErrorClass =
  | "timeout"
  | "canceled"
  | "unauthenticated"
  | "rate_limited"
  | "unavailable"
  | "invalid"
  | "other";

/** Delivery of one signal since the thread started. Requests, not flushes, are counted. */
export interface SignalLedger {
  readonly requests: number;
  readonly failures: number;
  readonly consecutiveFailures: number;
  readonly failuresByClass: Readonly<Partial<Record<ErrorClass, number>>>;
  /** Points, records or spans in requests that were answered with success. */
  readonly items: number;
  /** Those in failed requests. */
  readonly itemsLost: number;
  /** Answers that refused a part: no failure, but counted. */
  readonly partialSuccesses: number;
  readonly itemsRejected: number;
  /** Milliseconds since 1970. */
  readonly lastSuccessMs: number | undefined;
  readonly lastFailureMs: number | undefined;
  readonly lastFailureClass: ErrorClass | undefined;
  /** The transport's own words, without addresses' credentials. */
  readonly lastFailureMessage: string | undefined;
  /** Seconds taken by requests, summed. */
  readonly seconds: number;
}

/** A queue before an exporter. */
export interface QueueView {
  readonly held: number;
  readonly capacity: number;
  readonly droppedQueueFull: number;
}

/** Why series were left out of an answer of the pull endpoint. */
export type GatherErrorClass =
  | "duplicate_series"
  | "label_inconsistent"
  | "type_mismatch"
  | "collector_error"
  | "other";

/**
 * How a request to the pull endpoint ended: 2xx; 503; anything else, also an answer that was cut.
 */
export type PullOutcome = "success" | "unavailable" | "error";

/**
 * Why the pull endpoint let somebody not in: it has no token and is open to other machines; no
 * credential; a wrong one.
 */
export type PullRejection = "auth_required" | "missing_credentials" | "bad_credentials";

/**
 * The pull endpoint since the thread started. Requests are those that authentication let through.
 */
export interface PullView {
  readonly state: "starting" | "serving" | "failed" | "stopped";
  /** The bound address; undefined unless serving. */
  readonly address: string | undefined;
  /** Why it failed, in words of our own. */
  readonly reason: string | undefined;
  /** How often the port could not be opened. */
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

/** Texts of log records that were cut before export. */
interface CutView {
  readonly records: number;
  readonly bytes: number;
}

/** One thing that took time, as a histogram counts it. */
export type Observed =
  | {
      readonly of: "export";
      readonly signal: Signal;
      readonly outcome: "success" | "failure";
      readonly seconds: number;
    }
  | { readonly of: "pull"; readonly outcome: PullOutcome; readonly seconds: number };

/**
 * Lines about failed exports that were not written while an outage of one signal and class lasted.
 */
export interface SuppressedLines {
  readonly signal: Signal;
  readonly errorClass: ErrorClass;
  readonly lines: number;
}

/** The telemetry thread's books. */
export interface LedgerView {
  readonly signals: Readonly<Record<Signal, SignalLedger>>;
  /** Exports left out because the last snapshot had not come yet. */
  readonly snapshotsSkipped: number;
  readonly logs: QueueView;
  readonly traces: QueueView;
  readonly exposition: {
    readonly running: number;
    readonly gathers: number;
    readonly duplicateSeries: number;
    readonly conflictingFamilies: number;
  };
  /** Cut log records by what was cut of them. */
  readonly cut: Readonly<Record<"body" | "attribute", CutView>>;
  /** Undefined when there is no pull endpoint. */
  readonly pull: PullView | undefined;
  readonly others: OtherWriters;
}

/**
 * What writers of other threads said with their last snapshots, added up; of those that are gone,
 * their losses.
 */
export interface OtherWriters {
  readonly logs: OutboxStatus;
  readonly traces: OutboxStatus;
  readonly series: readonly SeriesFigures[];
}

/** Of no writer. */
export const noOtherWriters: OtherWriters = {
  logs: { held: 0, capacity: 0, dropped: 0, lost: 0 },
  traces: { held: 0, capacity: 0, dropped: 0, lost: 0 },
  series: [],
};

/** A ledger in which nothing has happened. */
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

/** What a status page shows. */
export interface TelemetryStatus {
  /** `off`: nothing exports and nobody scrapes, so there is no thread. */
  readonly thread: "off" | "starting" | "running" | "failed" | "stopped";
  /** As of the last word of the telemetry thread. */
  readonly ledger: LedgerView | undefined;
  readonly series: number;
  readonly labelBytes: number;
  /** Set when the process-wide ceiling of series or label bytes was reached. */
  readonly ceilingReached: boolean;
  /** Log records on their way to the telemetry thread. */
  readonly logs: OutboxStatus;
  readonly spans: OutboxStatus;
  readonly suppressed: readonly SuppressedLines[];
}
