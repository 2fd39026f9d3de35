/**
 * What the status tells of the house around the monitor. The main thread knows it, the monitor's
 * thread writes the documents: so the thread asks over a port, and gets the part of the document
 * that is the house's, as a message, with what cannot be one beside it.
 */
import type { Status } from "../../gen/steward/monitor/v1/status_pb.ts";
import type { AnyLogRow, AnyRow } from "../../kernel/telemetry/types.ts";

/** The name of the port among those that the service is given. */
export const PROCESS_STATUS_PORT = "process-status";

/** Series of one metric of a scope that lives in the main thread. */
export interface MetricFacts {
  readonly name: string;
  readonly series: number;
  readonly overflowing: boolean;
  readonly labels: readonly {
    readonly label: string;
    readonly distinct: number;
    readonly capped: boolean;
    readonly examples: readonly string[];
  }[];
}

/** What never changes while the process runs; sent once, before anything is asked. */
export interface ProcessConstants {
  readonly kind: "constants";
  /**
   * A `Status` in binary with: provider, refresh_ms, advisories, service, telemetry, config
   * (without what the checkpoints' store decides), receivers, and everything that is off in this
   * version.
   */
  readonly status: Uint8Array;
  /** The catalogue of the other services and of the house; the monitor knows its own. */
  readonly metrics: readonly AnyRow[];
  readonly records: readonly AnyLogRow[];
}

/** The thread wants to know. */
export interface ProcessStatusRequest {
  readonly kind: "ask";
  readonly id: number;
  /**
   * Whether the series of the main thread are wanted with their label values: only for the page of
   * cardinality.
   */
  readonly labels: boolean;
}

/** What is so now. */
export interface ProcessStatusReply {
  readonly kind: "answer";
  readonly id: number;
  /**
   * A `Status` in binary with: components, health_problems (without the monitor's own), delivery,
   * metrics_serving, profiling, runtime, services, telemetry's throughput, tls_certificates,
   * update.
   */
  readonly status: Uint8Array;
  /** Series of the main thread's scopes. */
  readonly series: readonly MetricFacts[];
}

/** From the main thread. */
export type ProcessStatusMessage = ProcessConstants | ProcessStatusReply;

/** The fields of a status that are the house's to say; all others are the monitor's. */
export type ProcessField =
  | "provider"
  | "refreshMs"
  | "advisories"
  | "service"
  | "telemetry"
  | "config"
  | "receivers"
  | "eventStore"
  | "flowStore"
  | "geoip"
  | "reverseDns"
  | "components"
  | "healthProblems"
  | "delivery"
  | "metricsServing"
  | "profiling"
  | "runtime"
  | "services"
  | "throughput"
  | "tlsCertificates"
  | "update";

/** The house's part of a document. */
export type ProcessStatus = Pick<Status, ProcessField>;
