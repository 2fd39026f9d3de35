/** Collector of DNS settings: resolvers, split zones, search paths and two flags. */
import { defineOperation } from "../capability/operation.ts";
import {
  dnsMagicDns,
  dnsMetrics,
  dnsNameserversCount,
  dnsOverrideLocal,
  dnsResolver,
  dnsResolversUseWithExitNode,
  dnsSearchPath,
  dnsSearchPathsCount,
  dnsSplitZonesCount,
} from "../catalogue/dns.ts";
import type { Dns, Resolver } from "../providers/model.ts";
import { defineCollector } from "./collector.ts";
import type { Tick } from "./collector.ts";
import { defineSection } from "./section.ts";

const getDns = defineOperation("getDnsConfiguration");

const section = defineSection("dns", {
  collects: "the configuration of DNS",
  intervalSeconds: 600,
});

export const dns = defineCollector({
  section,
  description: "Resolvers, split zones and search paths",
  needs: "dns",
  scopes: [["dns:read"]],
  operations: [getDns],
  emits: dnsMetrics,
  open:
    ({ provider }) =>
    async (tick) => {
      const result = await tick.call(getDns, () => provider.dns(tick.signal));
      showCounts(result, tick);
      showResolvers(result, tick);
    },
});

function showCounts(
  { nameservers, splitZones, searchPaths, overrideLocal, magicDns }: Dns,
  { sweep }: Tick,
): void {
  const resolvers = [...nameservers, ...[...splitZones.values()].flat()];
  sweep.gauge(dnsNameserversCount, nameservers.length, {});
  sweep.gauge(dnsSplitZonesCount, splitZones.size, {});
  sweep.gauge(dnsSearchPathsCount, searchPaths.length, {});
  sweep.gauge(
    dnsResolversUseWithExitNode,
    resolvers.filter(({ useWithExitNode }) => useWithExitNode).length,
    {},
  );
  sweep.gauge(dnsOverrideLocal, Number(overrideLocal), {});
  sweep.gauge(dnsMagicDns, Number(magicDns), {});
  for (const domain of searchPaths)
    sweep.gauge(dnsSearchPath, 1, { "vpn.dns.search_path.domain": domain });
}

/** A domain without its own resolver still has a row, with an empty address. */
const none: readonly Resolver[] = [{ address: "", useWithExitNode: false }];

function showResolvers({ nameservers, splitZones }: Dns, tick: Tick): void {
  for (const resolver of nameservers) showResolver(resolver, "global", "", tick);
  for (const [domain, resolvers] of splitZones)
    for (const resolver of resolvers.length === 0 ? none : resolvers)
      showResolver(resolver, "split", domain, tick);
}

function showResolver(
  { address, useWithExitNode }: Resolver,
  kind: "global" | "split",
  domain: string,
  { sweep }: Tick,
): void {
  sweep.gauge(dnsResolver, 1, {
    "vpn.dns.resolver.address": address,
    "vpn.dns.resolver.kind": kind,
    "vpn.dns.resolver.domain": domain,
    "vpn.dns.resolver.use_with_exit_node": String(useWithExitNode),
  });
}
