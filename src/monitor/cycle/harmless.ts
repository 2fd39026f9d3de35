/** What of the configuration is left out, so that a cycle changes nothing anywhere. */
import type {
  CollectorOptions,
  LogOptions,
  MonitorOptions,
  NetworkOptions,
  ObjectStoreOptions,
} from "../options.ts";

/** Windows of a trial are this short, so that a busy network does not fill it. */
const WINDOW_MS = 300_000;
/** Objects appear by the hour. */
const OBJECTS_WINDOW_MS = 3_600_000;
const MOST_OBJECTS = 20;

/** The same without anything that is stored, published, written or asked of third parties. */
export function harmless(options: MonitorOptions): MonitorOptions {
  return unversioned({
    ...options,
    networks: options.networks.map(harmlessNetwork),
    annotations: undefined,
    checkpoint: { ...options.checkpoint, store: "memory", evidenceStore: "memory" },
  });
}

/**
 * The same without looking for the latest client: its answer comes too late for a single run of
 * devices.
 */
export function unversioned(options: MonitorOptions): MonitorOptions {
  return { ...options, versionChecks: { ...options.versionChecks, devices: false } };
}

/** Whether the policy would be sent to be judged, which a trial does not do. */
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
    maxObjects: Math.min(store.maxObjects, MOST_OBJECTS),
  };
}
