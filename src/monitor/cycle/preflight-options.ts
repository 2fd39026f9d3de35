/** Reduces the options so that a preflight stores, publishes and sends nothing. */
import { aclSection } from "../collectors/acl.ts";
import { isCollected } from "../network/collected.ts";
import { collectorSections } from "../collectors/all.ts";
import type { MonitorOptions, NetworkOptions } from "../options.ts";

/**
 * Without checkpoints, annotations, flows on disk and requests to third parties. What a collector leaves out, its
 * section says.
 */
export function preflightOptions(options: MonitorOptions): MonitorOptions {
  return withoutVersionCheck({
    ...options,
    networks: options.networks.map(preflightNetwork),
    annotations: undefined,
    ...(options.flows === undefined ? {} : { flows: { ...options.flows, disk: undefined } }),
    checkpoint: { ...options.checkpoint, store: "memory", evidenceStore: "memory" },
  });
}

/** A cycle opens no receiver: networks without a credential are left out. */
export function withoutReceivers(options: MonitorOptions): MonitorOptions {
  return { ...options, networks: options.networks.filter(isCollected) };
}

/** Removes the lookup of the latest client: it would finish too late for a single run. */
export function withoutVersionCheck(options: MonitorOptions): MonitorOptions {
  return { ...options, versionChecks: { ...options.versionChecks, devices: false } };
}

/** Whether policy validation is on, which a preflight leaves out. */
export function validatesPolicy({ networks }: Pick<MonitorOptions, "networks">): boolean {
  return networks.some(
    (network) => network.provider.kind === "tailscale" && aclSection.of(network)?.validate === true,
  );
}

function preflightNetwork(network: NetworkOptions): NetworkOptions {
  const collectors = collectorSections.map((section) => {
    const options = section.of(network);
    return [section.name, options && section.forPreflight(options)];
  });
  return { ...network, collectors: Object.fromEntries(collectors) };
}
