/** The flow stores of all networks that have flow logs. */
import type { Clock } from "../../kernel/base/clock.ts";
import { flowlogsSection } from "../collectors/log-sections.ts";
import type { FlowStoreOptions, MonitorOptions, NetworkOptions } from "../options.ts";
import { estimatedBytes, flowCapacity } from "./capacity.ts";
import { BUCKET_MS, createFlowStore, type FlowStore } from "./flow-store.ts";
import type { FlowStoresStatus } from "./types.ts";

export interface FlowStores {
  readonly options: FlowStoreOptions;
  /** In the order of the configuration. */
  readonly all: readonly FlowStore[];
  /** By the configured name; undefined for a network without flow logs. */
  of(network: string): FlowStore | undefined;
  status(): FlowStoresStatus;
}

/** Undefined while nothing is stored: `flows.enabled` is false or no network has flow logs. */
export function createFlowStores(
  clock: Pick<Clock, "now">,
  { flows: options, networks, receivers }: Pick<MonitorOptions, "flows" | "networks" | "receivers">,
): FlowStores | undefined {
  if (options === undefined) return undefined;
  let seq = 0;
  const nextSeq = (): number => (seq += 1);
  const stores = new Map(
    networks
      .filter((network) => receivers?.stream !== undefined || hasFlowLogs(network))
      .map(({ name }) => [name, createFlowStore({ clock, nextSeq }, name, options)]),
  );
  if (stores.size === 0) return undefined;
  const all = [...stores.values()];
  const capacity = flowCapacity(options.capacityProfile);
  return {
    options,
    all,
    of: (network) => stores.get(network),
    status: () => ({
      profile: options.capacityProfile,
      retentionMs: options.retentionMs,
      maxRecent: capacity.recent,
      estimatedBytes: estimatedBytes(capacity, Math.ceil(options.retentionMs / BUCKET_MS)),
      networks: all.map((store) => store.status()),
    }),
  };
}

/** Headscale has none; a bucket may have them for any network. */
function hasFlowLogs(network: NetworkOptions): boolean {
  const section = flowlogsSection.of(network);
  return (
    section !== undefined &&
    (network.provider.kind === "tailscale" || section.objectStore !== undefined)
  );
}
