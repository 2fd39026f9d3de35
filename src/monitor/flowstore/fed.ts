/** Which networks have flows to store. */
import { isCollected } from "../network/collected.ts";
import { flowlogsSection } from "../collectors/log-sections.ts";
import type { MonitorOptions, NetworkOptions } from "../options.ts";

/** Whether there will be a store. */
export function storesFlows({
  flows,
  networks,
  receivers,
}: Pick<MonitorOptions, "flows" | "networks" | "receivers">): boolean {
  return flows !== undefined && networks.some((network) => isFed(network, receivers));
}

/** Whether traffic of the network can arrive. */
export function isFed(network: NetworkOptions, receivers: MonitorOptions["receivers"]): boolean {
  return receivers?.stream !== undefined || hasFlowLogs(network);
}

/** Headscale has none; a bucket may have them for any network. */
function hasFlowLogs(network: NetworkOptions): boolean {
  const section = flowlogsSection.of(network);
  return (
    section !== undefined &&
    isCollected(network) &&
    (network.provider.kind === "tailscale" || section.objectStore !== undefined)
  );
}
