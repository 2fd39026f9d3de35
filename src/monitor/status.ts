/** What the monitor knows of itself, as plain data: whoever serves a status page reads it here. */
import type { OperationStatus } from "../kernel/client/types.ts";
import type { CardinalityInfo } from "../kernel/telemetry/types.ts";
import type { CapabilityRow } from "./capability/matrix.ts";
import type { CheckpointStoreStatus } from "./checkpoints/open.ts";
import type { Told } from "./collectors/told.ts";
import type { DedupSetStatus } from "./flows/types.ts";
import type { EndpointCalls } from "./network/call-ledger.ts";
import type { Device } from "./providers/model.ts";
import type { Granted, ProviderKind } from "./providers/provider.ts";
import type { CollectorStatus } from "./runner/collector-runner.ts";

/** One network. */
export interface NetworkStatus {
  /** As configured: tells it from the others. */
  readonly id: string;
  /** As the control plane told it, or as configured. */
  readonly name: string;
  readonly provider: ProviderKind;
  readonly authMethod: Granted["method"];
  /** What the control plane offers, of what collectors ask for; sorted. */
  readonly features: readonly string[];
  /** Why it is not collected at all. */
  readonly failure: string | undefined;
  /** Collectors whose last run failed. */
  readonly failing: number;
  readonly collectors: readonly CollectorStatus[];
  readonly capabilities: readonly CapabilityRow[];
  /** Attempts, by endpoint of each client. */
  readonly endpoints: readonly OperationStatus[];
  /** Calls, by endpoint. */
  readonly calls: readonly EndpointCalls[];
  readonly told: Told;
  /** The age is undefined until devices were read for the first time. */
  readonly deviceCache: { readonly size: number; readonly ageMs: number | undefined };
  /** The same list until the devices are told anew. */
  readonly devices: readonly Device[];
  readonly dedupSets: readonly DedupSetStatus[];
  /** Series of this network. */
  readonly series: number;
  /** The same by metric; undefined before its series are open. */
  readonly cardinality: CardinalityInfo | undefined;
}

/** Everything. */
export interface MonitorStatus {
  readonly networks: readonly NetworkStatus[];
  readonly checkpoints: CheckpointStoreStatus;
}
