/** Metrics of the monitor: resolvers and search paths. */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../kernel/telemetry/types.ts";

export const dnsMagicDns = defineMetric({
  name: "vpn.dns.magic_dns",
  kind: "gauge",
  unit: "1",
  group: "DNS",
  help: "1 when automatic device names are on.",
});
export const dnsNameserversCount = defineMetric({
  name: "vpn.dns.nameservers.count",
  kind: "gauge",
  unit: "1",
  group: "DNS",
  help: "Global resolvers configured.",
});
export const dnsOverrideLocal = defineMetric({
  name: "vpn.dns.override_local",
  kind: "gauge",
  unit: "1",
  group: "DNS",
  help: "1 when the network resolvers override local ones.",
});
export const dnsResolver = defineMetric({
  name: "vpn.dns.resolver",
  kind: "gauge",
  unit: "1",
  attributes: [
    "vpn.dns.resolver.address",
    "vpn.dns.resolver.kind",
    "vpn.dns.resolver.domain",
    "vpn.dns.resolver.use_with_exit_node",
  ],
  group: "DNS",
  help: "Constant 1 per resolver; an empty split domain still gives one point.",
});
export const dnsResolversUseWithExitNode = defineMetric({
  name: "vpn.dns.resolvers.use_with_exit_node",
  kind: "gauge",
  unit: "1",
  group: "DNS",
  help: "Resolvers kept in use under an exit node.",
});
export const dnsSearchPath = defineMetric({
  name: "vpn.dns.search_path",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.dns.search_path.domain"],
  group: "DNS",
  help: "Constant 1 per search domain.",
});
export const dnsSearchPathsCount = defineMetric({
  name: "vpn.dns.search_paths.count",
  kind: "gauge",
  unit: "1",
  group: "DNS",
  help: "Search domains configured.",
});
export const dnsSplitZonesCount = defineMetric({
  name: "vpn.dns.split_zones.count",
  kind: "gauge",
  unit: "1",
  group: "DNS",
  help: "Split-DNS domains configured.",
});

export const dnsMetrics: readonly AnyRow[] = catalogue([
  dnsMagicDns,
  dnsNameserversCount,
  dnsOverrideLocal,
  dnsResolver,
  dnsResolversUseWithExitNode,
  dnsSearchPath,
  dnsSearchPathsCount,
  dnsSplitZonesCount,
]);
