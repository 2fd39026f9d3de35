/** Reduces the options so that a trial cycle has no side effects. */
import type {
  CollectorOptions,
  LogOptions,
  MonitorOptions,
  NetworkOptions,
  ObjectStoreOptions,
} from "../options.ts";

/** Short, so that a trial of a busy network ends. */
const WINDOW_MS = 300_000;
/** Objects are written about hourly. */
const OBJECTS_WINDOW_MS = 3_600_000;
const MAX_OBJECTS = 20;

/** Removes everything that is stored, published, written or requested from third parties. */
export function harmless(options: MonitorOptions): MonitorOptions {
  return unversioned({
    ...options,
    networks: options.networks.map(harmlessNetwork),
    annotations: undefined,
    checkpoint: { ...options.checkpoint, store: "memory", evidenceStore: "memory" },
  });
}

/** Removes the lookup of the latest client: it would finish too late for a single run. */
export function unversioned(options: MonitorOptions): MonitorOptions {
  return { ...options, versionChecks: { ...options.versionChecks, devices: false } };
}

/** Whether policy validation is on; a trial skips it, since it would send the policy. */
export function validatesPolicy({ networks }: Pick<MonitorOptions, "networks">): boolean {
  return networks.some(
    ({ provider, collectors }) =>
      provider.kind === "tailscale" && collectors.acl?.validate === true,
  );
}

function harmlessNetwork(network: NetworkOptions): NetworkOptions {
  const { acl, flowlogs, auditlogs, k8sAudit } = network.collectors;
  const collectors: CollectorOptions = {
    ...network.collectors,
    acl: acl && { ...acl, validate: false },
    flowlogs: flowlogs && { ...flowlogs, ...shortWindow(flowlogs) },
    auditlogs: auditlogs && { ...auditlogs, ...shortWindow(auditlogs) },
    k8sAudit: k8sAudit && { objectStore: fewObjects(k8sAudit.objectStore) },
  };
  return { ...network, collectors };
}

function shortWindow({
  initialLookbackMs,
  objectStore,
}: LogOptions): Pick<LogOptions, "initialLookbackMs" | "objectStore"> {
  return {
    initialLookbackMs: Math.min(initialLookbackMs, WINDOW_MS),
    objectStore: objectStore && fewObjects(objectStore),
  };
}

function fewObjects(store: ObjectStoreOptions): ObjectStoreOptions {
  return {
    ...store,
    initialLookbackMs: Math.min(store.initialLookbackMs, OBJECTS_WINDOW_MS),
    maxObjects: Math.min(store.maxObjects, MAX_OBJECTS),
  };
}
