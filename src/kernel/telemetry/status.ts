/** What is known about delivery: numbers per signal and error class, as the telemetry thread keeps them and a status page shows them. */
import type { OutboxStatus } from "./outbox.ts";

/** What is exported. */
export type Signal = "metrics" | "logs" | "traces";

/** All signals. */
export const signals: readonly Signal[] = ["metrics", "logs", "traces"];

/** Why an export failed, in the vocabulary of `svc.export.failures`. */
export type ErrorClass = "timeout" | "canceled" | "unauthenticated" | "rate_limited" | "unavailable" | "invalid" | "other";

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

/** The telemetry thread's books. */
export interface LedgerView {
  readonly signals: Readonly<Record<Signal, SignalLedger>>;
  /** Exports left out because the last snapshot had not come yet. */
  readonly snapshotsSkipped: number;
  readonly logs: QueueView;
  readonly traces: QueueView;
  readonly exposition: { readonly running: number; readonly gathers: number; readonly duplicateSeries: number; readonly conflictingFamilies: number };
}

/** A ledger in which nothing has happened. */
export const emptySignalLedger: SignalLedger = {
  requests: 0, failures: 0, consecutiveFailures: 0, failuresByClass: {}, items: 0, itemsLost: 0, partialSuccesses: 0, itemsRejected: 0,
  lastSuccessMs: undefined, lastFailureMs: undefined, lastFailureClass: undefined, lastFailureMessage: undefined, seconds: 0,
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
}
