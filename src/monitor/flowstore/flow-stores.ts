/** The flow stores of all networks that have flow logs. */
import type { Clock } from "../../kernel/base/clock.ts";
import type { FlowStoreOptions, MonitorOptions } from "../options.ts";
import { isFed, storesFlows } from "./fed.ts";
import { BUCKET_MS } from "./bucket.ts";
import { estimatedBytes, flowCapacity, MAX_ENTRIES } from "./capacity.ts";
import { EntryBudget } from "./entry-budget.ts";
import type { FlowStores, FlowStoresDeps } from "./flow-store.ts";
import { createMemoryStore } from "./memory-store.ts";

type StoreOptions = Pick<MonitorOptions, "flows" | "networks" | "receivers" | "privacy">;

/**
 * Undefined while nothing is stored: `flows.enabled` is false or no network has flow logs. A file
 * that cannot be opened leaves its network without a store.
 */
export async function openFlowStores(
  deps: FlowStoresDeps,
  monitor: StoreOptions,
): Promise<FlowStores | undefined> {
  const { flows: options, networks, receivers, privacy } = monitor;
  if (options === undefined || !storesFlows(monitor)) return undefined;
  const names = networks
    .filter((network) => isFed(network, receivers))
    .map((network) => network.name);
  if (options.disk === undefined) return createMemoryStores(deps.clock, options, names);
  // A disk needs code that memory does not.
  const { openDiskStores } = await import("./disk/disk-stores.ts");
  const disk = { ...options.disk, maxFutureSkewMs: options.maxFutureSkewMs };
  return await openDiskStores(deps, { options: disk, privacy, names });
}

function createMemoryStores(
  clock: Pick<Clock, "now">,
  options: FlowStoreOptions,
  names: readonly string[],
): FlowStores {
  let seq = 0;
  const nextSeq = (): number => (seq += 1);
  const limits = flowCapacity(options.capacityProfile, names.length);
  const deps = { clock, nextSeq, limits, budget: new EntryBudget(MAX_ENTRIES) };
  const stores = new Map(names.map((name) => [name, createMemoryStore(deps, name, options)]));
  const all = [...stores.values()];
  return {
    kind: "memory",
    retentionMs: options.retentionMs,
    maxExportRows: Number.POSITIVE_INFINITY,
    queryTimeoutMs: undefined,
    all,
    of: (network) => stores.get(network),
    status: () => ({
      kind: "memory",
      profile: options.capacityProfile,
      retentionMs: options.retentionMs,
      maxRecent: limits.recent,
      estimatedBytes: estimatedBytes(limits, Math.ceil(options.retentionMs / BUCKET_MS)),
      networks: all.map((store) => store.status()),
      errors: [],
    }),
    health: () => ({ ok: true }),
    close: () => Promise.resolve(),
  };
}
