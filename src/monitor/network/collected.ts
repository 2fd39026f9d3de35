/** Whether a network's control plane is called, or only its receivers are served. */
import type { MonitorOptions, NetworkOptions } from "../options.ts";

/** Without a credential nothing is called, so that no collector runs. */
export function isCollected({ provider }: Pick<NetworkOptions, "provider">): boolean {
  return provider.kind === "headscale" || provider.auth !== undefined;
}

export function isAnyCollected({ networks }: Pick<MonitorOptions, "networks">): boolean {
  return networks.some(isCollected);
}
