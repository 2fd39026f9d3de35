/** Metrics of the monitor: reverse DNS and geography. */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../kernel/telemetry/types.ts";

export const geoipDatabaseBuildTime = defineMetric({
  name: "vpn.geoip.database.build_time",
  kind: "gauge",
  unit: "s",
  attributes: ["geoip.database"],
  group: "GeoIP",
  help: "Build time of the loaded database.",
  when: "enrichment.geoip.enabled",
});
export const geoipDownloads = defineMetric({
  name: "vpn.geoip.downloads",
  kind: "counter",
  unit: "1",
  attributes: ["geoip.edition", "result"],
  group: "GeoIP",
  help: "Database downloads by edition and result.",
  when: "enrichment.geoip.download.enabled",
});
export const geoipLookups = defineMetric({
  name: "vpn.geoip.lookups",
  kind: "counter",
  unit: "1",
  attributes: ["geoip.database", "result"],
  group: "GeoIP",
  help: "Geography lookups by database (country, asn, skipped) and result.",
  when: "enrichment.geoip.enabled",
});
export const geoipReloads = defineMetric({
  name: "vpn.geoip.reloads",
  kind: "counter",
  unit: "1",
  attributes: ["geoip.database", "result"],
  group: "GeoIP",
  help: "Database hot swaps by database and result.",
  when: "enrichment.geoip.enabled",
});
export const rdnsCacheCapacity = defineMetric({
  name: "vpn.rdns.cache.capacity",
  kind: "gauge",
  unit: "1",
  group: "Reverse DNS",
  help: "Maximum entries of the cache.",
  when: "enrichment.reverse_dns.enabled and self_observability.enabled",
});
export const rdnsCacheEntries = defineMetric({
  name: "vpn.rdns.cache.entries",
  kind: "gauge",
  unit: "1",
  group: "Reverse DNS",
  help: "Entries in the cache.",
  when: "enrichment.reverse_dns.enabled and self_observability.enabled",
});
export const rdnsCacheEvictions = defineMetric({
  name: "vpn.rdns.cache.evictions",
  kind: "counter",
  unit: "1",
  attributes: ["reason"],
  group: "Reverse DNS",
  help: "Entries removed: expired, stale_expired, purge.",
  when: "enrichment.reverse_dns.enabled and self_observability.enabled",
});
export const rdnsCacheLookups = defineMetric({
  name: "vpn.rdns.cache.lookups",
  kind: "counter",
  unit: "1",
  attributes: ["result"],
  group: "Reverse DNS",
  help: "Reverse-name lookups by result: hit, stale, negative, miss.",
  when: "enrichment.reverse_dns.enabled and self_observability.enabled",
});
export const rdnsCacheOverflows = defineMetric({
  name: "vpn.rdns.cache.overflows",
  kind: "counter",
  unit: "1",
  group: "Reverse DNS",
  help: "New addresses not scheduled because the cache was full.",
  when: "enrichment.reverse_dns.enabled and self_observability.enabled",
});
export const rdnsQueries = defineMetric({
  name: "vpn.rdns.queries",
  kind: "counter",
  unit: "1",
  attributes: ["result"],
  group: "Reverse DNS",
  help: "Background resolver queries by result.",
  when: "enrichment.reverse_dns.enabled and self_observability.enabled",
});
export const rdnsRefreshes = defineMetric({
  name: "vpn.rdns.refreshes",
  kind: "counter",
  unit: "1",
  attributes: ["result"],
  group: "Reverse DNS",
  help: "Background refreshes of stale names by result.",
  when: "enrichment.reverse_dns.enabled and self_observability.enabled",
});

export const enrichmentMetrics: readonly AnyRow[] = catalogue([
  geoipDatabaseBuildTime,
  geoipDownloads,
  geoipLookups,
  geoipReloads,
  rdnsCacheCapacity,
  rdnsCacheEntries,
  rdnsCacheEvictions,
  rdnsCacheLookups,
  rdnsCacheOverflows,
  rdnsQueries,
  rdnsRefreshes,
]);
