/** Metrics of reverse DNS: `vpn.rdns.*`. */
import type { Scope } from "../../kernel/telemetry/types.ts";
import {
  rdnsCacheCapacity,
  rdnsCacheEntries,
  rdnsCacheEvictions,
  rdnsCacheLookups,
  rdnsCacheOverflows,
  rdnsQueries,
  rdnsRefreshes,
} from "../catalogue/enrichment.ts";
import type { ReverseDnsFigures } from "./types.ts";

/** Sums are taken over before each snapshot, so that a look-up costs no more than its count. */
export function reportReverseDns(
  scope: Scope,
  capacity: number,
  figures: () => ReverseDnsFigures,
): void {
  scope.observe(() => {
    const now = figures();
    scope.gauge(rdnsCacheCapacity, capacity, {});
    scope.gauge(rdnsCacheEntries, now.size, {});
    scope.total(rdnsCacheLookups, now.hits, { result: "hit" });
    scope.total(rdnsCacheLookups, now.stale, { result: "stale" });
    scope.total(rdnsCacheLookups, now.negatives, { result: "negative" });
    scope.total(rdnsCacheLookups, now.misses, { result: "miss" });
    scope.total(rdnsCacheEvictions, now.expired, { reason: "expired" });
    scope.total(rdnsCacheEvictions, now.staleExpired, { reason: "stale_expired" });
    scope.total(rdnsCacheEvictions, now.purged, { reason: "purge" });
    scope.total(rdnsCacheOverflows, now.overflows, {});
    scope.total(rdnsQueries, now.answered, { result: "success" });
    scope.total(rdnsQueries, now.failed, { result: "failure" });
    scope.total(rdnsRefreshes, now.refreshed, { result: "success" });
    scope.total(rdnsRefreshes, now.refreshesFailed, { result: "failure" });
  });
}
