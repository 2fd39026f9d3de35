/**
 * The metrics of the tokens service, for those who run it. The engine's own families stay on its
 * mount.
 */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../kernel/telemetry/types.ts";

/** A mint takes a call to the platform and two flushes of the disk. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 90] as const;

const tokens = { group: "Tokens" } as const;

/**
 * Requests to the secrets manager. `mount` is a mount point, `(none)` or `__other__`; `operation`
 * is the requested one; `outcome` is ok or the error's class.
 */
export const tokensRequests = defineMetric({
  ...tokens,
  name: "svc.tokens.requests",
  kind: "counter",
  unit: "{request}",
  attributes: ["mount", "operation", "outcome"],
  help: "Requests to the secrets manager by mount, operation and outcome.",
});
export const tokensMints = defineMetric({
  ...tokens,
  name: "svc.tokens.mints",
  kind: "counter",
  unit: "{token}",
  attributes: ["mount", "outcome"],
  help: "Mint requests by mount and outcome.",
});
export const tokensMintDuration = defineMetric({
  ...tokens,
  name: "svc.tokens.mint.duration",
  kind: "histogram",
  unit: "s",
  attributes: ["mount"],
  bounds: SECONDS,
  help: "Time from a mint request to its response, with lease and audit record on disk.",
});
export const tokensRevocations = defineMetric({
  ...tokens,
  name: "svc.tokens.revocations",
  kind: "counter",
  unit: "{revocation}",
  attributes: ["mount", "outcome"],
  help: "Attempts to revoke the token of a lease, by mount and outcome.",
});
/**
 * Leases: `held` are all, `due` those whose end is under way, `irrevocable` those whose end failed
 * for good.
 */
export const tokensLeases = defineMetric({
  ...tokens,
  name: "svc.tokens.leases",
  kind: "gauge",
  unit: "{lease}",
  attributes: ["state"],
  help: "Leases by state: held, due, irrevocable.",
});
export const tokensOrphans = defineMetric({
  ...tokens,
  name: "svc.tokens.orphans",
  kind: "gauge",
  unit: "{token}",
  help: "Tokens that may exist at the platform without a lease.",
});
export const tokensStored = defineMetric({
  ...tokens,
  name: "svc.tokens.stored",
  kind: "gauge",
  unit: "{token}",
  help: "Service tokens of the secrets manager.",
});
export const tokensAuditRecords = defineMetric({
  ...tokens,
  name: "svc.tokens.audit.records",
  kind: "counter",
  unit: "{record}",
  attributes: ["type"],
  help: "Audit records that reached the disk, by type.",
});
export const tokensAuditFailures = defineMetric({
  ...tokens,
  name: "svc.tokens.audit.failures",
  kind: "counter",
  unit: "{record}",
  attributes: ["type"],
  help: "Audit records that no device accepted, so that the request was refused.",
});
export const tokensSealed = defineMetric({
  ...tokens,
  name: "svc.tokens.sealed",
  kind: "gauge",
  unit: "1",
  help: "1 while the store of tokens is sealed, otherwise 0.",
});

export const tokensQuotaLimit = defineMetric({
  ...tokens,
  name: "svc.tokens.quota.limit",
  kind: "gauge",
  unit: "{call}",
  attributes: ["mount", "installation"],
  help: "Calls that the tokens of an installation may make in an hour, as of its last mint.",
});
export const tokensQuotaRemaining = defineMetric({
  ...tokens,
  name: "svc.tokens.quota.remaining",
  kind: "gauge",
  unit: "{call}",
  attributes: ["mount", "installation"],
  help: "Calls that the tokens of an installation had left in the hour at its last mint.",
});

export const tokensCacheHits = defineMetric({
  ...tokens,
  name: "svc.tokens.cache.hits",
  kind: "counter",
  unit: "{token}",
  attributes: ["mount"],
  help: "Mints answered with a token that was minted for an equal request.",
  when: "a mount has token_cache_min_ttl",
});
export const tokensCacheMisses = defineMetric({
  ...tokens,
  name: "svc.tokens.cache.misses",
  kind: "counter",
  unit: "{token}",
  attributes: ["mount"],
  help: "Mints of a mount with a token cache that called the platform.",
  when: "a mount has token_cache_min_ttl",
});
export const tokensCacheEntries = defineMetric({
  ...tokens,
  name: "svc.tokens.cache.entries",
  kind: "gauge",
  unit: "{token}",
  attributes: ["mount"],
  help: "Tokens that a mount with a token cache would use again.",
  when: "a mount has token_cache_min_ttl",
});

/** All rows of this file. */
export const tokensMetrics: readonly AnyRow[] = catalogue([
  tokensRequests,
  tokensMints,
  tokensMintDuration,
  tokensRevocations,
  tokensLeases,
  tokensOrphans,
  tokensStored,
  tokensAuditRecords,
  tokensAuditFailures,
  tokensSealed,
  tokensQuotaLimit,
  tokensQuotaRemaining,
  tokensCacheHits,
  tokensCacheMisses,
  tokensCacheEntries,
]);
