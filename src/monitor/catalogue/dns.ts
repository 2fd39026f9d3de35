/** Metrics of the monitor: resolvers and search paths (facts, metric catalogue). */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow, Row } from "../../kernel/telemetry/types.ts";

/** 1 when automatic device names are on. */
export const dnsMagicDns: Row<never, "gauge"> = defineMetric({ name: "vpn.dns.magic_dns", kind: "gauge", unit: "1", group: "DNS", help: "1 when automatic device names are on." });
/** Global resolvers configured. */
export const dnsNameserversCount: Row<never, "gauge"> = defineMetric({ name: "vpn.dns.nameservers.count", kind: "gauge", unit: "1", group: "DNS", help: "Global resolvers configured." });
/** 1 when the network resolvers override local ones. */
export const dnsOverrideLocal: Row<never, "gauge"> = defineMetric({ name: "vpn.dns.override_local", kind: "gauge", unit: "1", group: "DNS", help: "1 when the network resolvers override local ones." });
/** Constant 1 per resolver; an empty split domain still gives one point. */
export const dnsResolver: Row<"vpn.dns.resolver.address" | "vpn.dns.resolver.kind" | "vpn.dns.resolver.domain" | "vpn.dns.resolver.use_with_exit_node", "gauge"> = defineMetric({ name: "vpn.dns.resolver", kind: "gauge", unit: "1", attributes: ["vpn.dns.resolver.address", "vpn.dns.resolver.kind", "vpn.dns.resolver.domain", "vpn.dns.resolver.use_with_exit_node"], group: "DNS", help: "Constant 1 per resolver; an empty split domain still gives one point." });
/** Resolvers kept in use under an exit node. */
export const dnsResolversUseWithExitNode: Row<never, "gauge"> = defineMetric({ name: "vpn.dns.resolvers.use_with_exit_node", kind: "gauge", unit: "1", group: "DNS", help: "Resolvers kept in use under an exit node." });
/** Constant 1 per search domain. */
export const dnsSearchPath: Row<"vpn.dns.search_path.domain", "gauge"> = defineMetric({ name: "vpn.dns.search_path", kind: "gauge", unit: "1", attributes: ["vpn.dns.search_path.domain"], group: "DNS", help: "Constant 1 per search domain." });
/** Search domains configured. */
export const dnsSearchPathsCount: Row<never, "gauge"> = defineMetric({ name: "vpn.dns.search_paths.count", kind: "gauge", unit: "1", group: "DNS", help: "Search domains configured." });
/** Split-DNS domains configured. */
export const dnsSplitZonesCount: Row<never, "gauge"> = defineMetric({ name: "vpn.dns.split_zones.count", kind: "gauge", unit: "1", group: "DNS", help: "Split-DNS domains configured." });

/** All rows of this file. */
export const dnsMetrics: readonly AnyRow[] = catalogue([
  dnsMagicDns, dnsNameserversCount, dnsOverrideLocal, dnsResolver, dnsResolversUseWithExitNode, dnsSearchPath, dnsSearchPathsCount,
  dnsSplitZonesCount,
]);
