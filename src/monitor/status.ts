/** Internal state of the monitor as plain data, from which the status is built. */
import type { OperationStatus } from "../kernel/client/types.ts";
import type { CertificateStatus } from "../kernel/listen/tls/certificates.ts";
import type { CardinalityInfo } from "../kernel/telemetry/types.ts";
import type { CapabilityRow } from "./capability/matrix.ts";
import type { CheckpointStoreStatus } from "./checkpoints/open.ts";
import type { CollectorReport } from "./collectors/collector-report.ts";
import type { EventStoreStatus } from "./events/types.ts";
import type { FlowStoresStatus } from "./flowstore/types.ts";
import type { DedupSetStatus } from "./flows/types.ts";
import type { EndpointCalls } from "./network/call-ledger.ts";
import type { Device } from "./providers/model.ts";
import type { Granted, ProviderKind } from "./providers/provider.ts";
import type { Geoip } from "./geoip/geoip.ts";
import type { ReverseDns } from "./reverse-dns/reverse-dns.ts";
import type { CollectorStatus } from "./runner/collector-runner.ts";

export interface NetworkStatus {
  /** The configured name: unique among the networks. */
  readonly id: string;
  /** The looked-up name, or the configured one. */
  readonly name: string;
  readonly provider: ProviderKind;
  /** Undefined while there is no credential. */
  readonly authMethod: Granted["method"] | undefined;
  /** Features of the control plane that collectors need, sorted. */
  readonly features: readonly string[];
  /** Why the network is not collected at all. */
  readonly failure: string | undefined;
  /** Collectors whose last run failed. */
  readonly failing: number;
  readonly collectors: readonly CollectorStatus[];
  readonly capabilities: readonly CapabilityRow[];
  /** Attempts by endpoint of each client. */
  readonly endpoints: readonly OperationStatus[];
  /** Logical calls by endpoint. */
  readonly calls: readonly EndpointCalls[];
  readonly report: CollectorReport;
  /** The age is undefined before devices were first read. */
  readonly deviceCache: { readonly size: number; readonly ageMs: number | undefined };
  /** The same list until devices are reported again. */
  readonly devices: readonly Device[];
  readonly dedupSets: readonly DedupSetStatus[];
  /** Number of live series of this network. */
  readonly series: number;
  /** Series by metric; undefined before the scope is open. */
  readonly cardinality: CardinalityInfo | undefined;
}

export interface MonitorStatus {
  readonly networks: readonly NetworkStatus[];
  readonly checkpoints: CheckpointStoreStatus;
  /** Undefined while no flows are stored. */
  readonly flows?: FlowStoresStatus | undefined;
  /** Of receivers with TLS. */
  readonly certificates: readonly {
    readonly name: string;
    readonly certificate: CertificateStatus;
  }[];
  /** Undefined while reverse DNS is off. */
  readonly reverseDns?: Pick<ReverseDns, "options" | "figures"> | undefined;
  /** Undefined while it is off. */
  readonly geoip?: Pick<Geoip, "options" | "figures"> | undefined;
  /** Undefined while events are not stored. */
  readonly events: EventStoreStatus | undefined;
}
