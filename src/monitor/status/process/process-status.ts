/**
 * Messages of the process status port. The monitor's thread writes the status, the main thread
 * knows the process; so the monitor requests the process's part as a serialized `Status` message,
 * with series that do not fit into it.
 */
import type { Status } from "../../../gen/steward/monitor/v1/status_pb.ts";
import type { ServiceCountsView } from "../../presence/types.ts";
import type { AnyLogRow, AnyRow } from "../../../kernel/telemetry/types.ts";

/** Name of the port among those the service receives. */
export const PROCESS_STATUS_PORT = "process-status";

/** Series of one metric in a scope of the main thread. */
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

/** Values that never change while the process runs; sent once, first. */
export interface ProcessConstants {
  readonly kind: "constants";
  /**
   * Serialized `Status` with: provider, refresh_ms, advisories, service, telemetry, config (without
   * the checkpoint store), receivers, and features that this version lacks.
   */
  readonly status: Uint8Array;
  /** Catalogue of the process and the other services. */
  readonly metrics: readonly AnyRow[];
  readonly records: readonly AnyLogRow[];
}

export interface ProcessStatusRequest {
  readonly kind: "ask";
  readonly id: number;
  /** Whether to include label values, which only the cardinality page needs. */
  readonly labels: boolean;
}

/** The services' counts, which only presence needs. */
export interface CountsRequest {
  readonly kind: "counts";
  readonly id: number;
}

/** Current values. */
export interface ProcessStatusReply {
  readonly kind: "answer";
  readonly id: number;
  /**
   * Serialized `Status` with: components, health_problems (without the monitor's own), delivery,
   * metrics_serving, profiling, runtime, services, telemetry's throughput, tls_certificates,
   * update.
   */
  readonly status: Uint8Array;
  /** Series of the main thread's scopes. */
  readonly series: readonly MetricFacts[];
}

interface CountsReply {
  readonly kind: "counted";
  readonly id: number;
  readonly counts: ServiceCountsView;
}

/** Sent by the main thread. */
export type ProcessStatusMessage = ProcessConstants | ProcessStatusReply | CountsReply;

/** Status fields that the process fills; the monitor fills all others. */
export type ProcessField =
  | "provider"
  | "refreshMs"
  | "advisories"
  | "service"
  | "telemetry"
  | "config"
  | "receivers"
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

/** The process's part of a status. */
export type ProcessStatus = Pick<Status, ProcessField>;
