/** Exports events and gauges of the secrets manager to a scope. */
import type { Scope } from "../../kernel/telemetry/types.ts";
import {
  tokensAuditFailures,
  tokensAuditRecords,
  tokensCacheEntries,
  tokensCacheHits,
  tokensCacheMisses,
  tokensLeases,
  tokensMintDuration,
  tokensMints,
  tokensOrphans,
  tokensQuotaLimit,
  tokensQuotaRemaining,
  tokensRequests,
  tokensRevocations,
  tokensSealed,
  tokensStored,
} from "./metrics.ts";
import type { MountQuota } from "../vault/mounts/quotas.ts";
import type { TokensObserver } from "./observer.ts";

const MILLISECONDS = 1_000;
/** Mount points with a label of their own. */
const MAX_MOUNTS = 100;
const OTHER = "__other__";
const NONE = "(none)";
const OWNER = "tokens";

/** Gauges of the secrets manager; `inside` is present only while unsealed and readable. */
export interface TokensLevels {
  readonly sealed: boolean;
  readonly inside:
    | {
        readonly leases: number;
        readonly due: number;
        readonly irrevocable: number;
        readonly orphans: number;
        readonly stored: number;
        readonly quotas: readonly MountQuota[];
        /** Tokens that mounts keep for equal requests; mounts without a token cache are left out. */
        readonly cached: readonly { readonly mount: string; readonly entries: number }[];
      }
    | undefined;
}

/** Counts events in a scope. Only the first 100 mount points have labels of their own. */
export function createTokensReport(scope: Scope): TokensObserver {
  const mounts = new Set<string>();
  const labelOf = (point: string): string => {
    if (mounts.has(point)) return point;
    if (mounts.size >= MAX_MOUNTS) return OTHER;
    mounts.add(point);
    return point;
  };
  return {
    request: ({ mount, operation, outcome }) =>
      scope.add(tokensRequests, 1, {
        mount: mount === undefined ? NONE : labelOf(mount),
        operation,
        outcome,
      }),
    mint({ mount, outcome, tookMs }) {
      const label = labelOf(mount);
      scope.add(tokensMints, 1, { mount: label, outcome });
      if (outcome === "ok")
        scope.record(tokensMintDuration, tookMs / MILLISECONDS, { mount: label });
    },
    cache: ({ mount, outcome }) =>
      scope.add(outcome === "hit" ? tokensCacheHits : tokensCacheMisses, 1, {
        mount: labelOf(mount),
      }),
    revocation: ({ mount, outcome }) =>
      scope.add(tokensRevocations, 1, { mount: labelOf(mount), outcome }),
    audit: ({ type, ok }) => scope.add(ok ? tokensAuditRecords : tokensAuditFailures, 1, { type }),
  };
}

/** Reports gauges until disposed; those of a sealed or unreadable store are omitted. */
export function reportTokens(scope: Scope, levels: () => TokensLevels): Disposable {
  return scope.observe(() => {
    const { sealed, inside } = levels();
    const round = scope.sweep(OWNER);
    round.gauge(tokensSealed, sealed ? 1 : 0, {});
    if (inside !== undefined) {
      round.gauge(tokensLeases, inside.leases, { state: "held" });
      round.gauge(tokensLeases, inside.due, { state: "due" });
      round.gauge(tokensLeases, inside.irrevocable, { state: "irrevocable" });
      round.gauge(tokensOrphans, inside.orphans, {});
      round.gauge(tokensStored, inside.stored, {});
      for (const { mount, entries } of inside.cached)
        round.gauge(tokensCacheEntries, entries, { mount });
      for (const { mount, installationId: installation, limit, remaining } of inside.quotas) {
        round.gauge(tokensQuotaLimit, limit, { mount, installation });
        round.gauge(tokensQuotaRemaining, remaining, { mount, installation });
      }
    }
    round.commit();
  });
}
