/** The flow stores of all networks that have flow logs. */
import type { Clock } from "../../kernel/base/clock.ts";
import type { FlowStoreOptions, MonitorOptions } from "../options.ts";
import { isFed, storesFlows } from "./fed.ts";
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
  monitor: Pick<MonitorOptions, "flows" | "networks" | "receivers">,
): FlowStores | undefined {
  const { flows: options, networks, receivers } = monitor;
  if (options === undefined || !storesFlows(monitor)) return undefined;
  let seq = 0;
  const nextSeq = (): number => (seq += 1);
  const stores = new Map(
    networks
      .filter((network) => isFed(network, receivers))
      .map(({ name }) => [name, createFlowStore({ clock, nextSeq }, name, options)]),
  );
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
