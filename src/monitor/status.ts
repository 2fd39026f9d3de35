/** What the monitor knows of itself, as plain data: whoever serves a status page reads it here (facts, monitor-api §1). */
import type { OperationStatus } from "../kernel/client/types.ts";
import type { CapabilityRow } from "./capability/matrix.ts";
import type { CheckpointStoreStatus } from "./checkpoints/open.ts";
import type { DedupSetStatus } from "./flows/types.ts";
import type { Granted, ProviderKind } from "./providers/provider.ts";
import type { CollectorStatus } from "./runner/collector-runner.ts";

/** One network. */
export interface NetworkStatus {
  /** As the control plane told it, or as configured. */
  readonly name: string;
  readonly provider: ProviderKind;
  /** Undefined for a provider without choice. */
  readonly authMethod: Granted["method"] | undefined;
  /** Collectors whose last run failed. */
  readonly failing: number;
  readonly collectors: readonly CollectorStatus[];
  readonly capabilities: readonly CapabilityRow[];
  readonly endpoints: readonly OperationStatus[];
  readonly deviceCache: { readonly size: number; readonly ageMs: number };
  readonly dedupSets: readonly DedupSetStatus[];
  /** Series of this network. */
  readonly series: number;
}

/** Everything. */
export interface MonitorStatus {
  readonly networks: readonly NetworkStatus[];
  readonly checkpoints: CheckpointStoreStatus;
}
