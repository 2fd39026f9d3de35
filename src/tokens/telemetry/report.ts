/** Writes what the secrets manager tells, and its levels, into a scope. */
import type { Scope } from "../../kernel/telemetry/types.ts";
import {
  tokensAuditFailures,
  tokensAuditRecords,
  tokensLeases,
  tokensMintDuration,
  tokensMints,
  tokensOrphans,
  tokensRequests,
  tokensRevocations,
  tokensSealed,
  tokensStored,
} from "./metrics.ts";
import type { TokensObserver } from "./observer.ts";

const MILLISECONDS = 1_000;
/** Mounts are as many as operators make; labels are not. */
const MAX_MOUNTS = 100;
const OTHER = "__other__";
const NONE = "(none)";
const OWNER = "tokens";

/** Levels of the secrets manager; `inside` only while it is unsealed. */
export interface TokensLevels {
  readonly sealed: boolean;
  readonly inside:
    | {
        readonly leases: number;
        readonly due: number;
        readonly irrevocable: number;
        readonly orphans: number;
        readonly stored: number;
      }
    | undefined;
}

/** An observer that counts in a scope. The first 100 mount points it hears of have a label each. */
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
    revocation: ({ mount, outcome }) =>
      scope.add(tokensRevocations, 1, { mount: labelOf(mount), outcome }),
    audit: ({ type, ok }) => scope.add(ok ? tokensAuditRecords : tokensAuditFailures, 1, { type }),
  };
}

/** Reports levels until disposed; what is not known while the store is sealed is not said. */
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
    }
    round.commit();
  });
}
