/** Interface through which the secrets manager reports events; independent of metrics. */
import { toStewardError, type Code, type StewardError } from "../../kernel/base/errors.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import type { CoreRequest } from "../vault/core/types.ts";
import type { SealGate } from "../vault/core/seal-gate.ts";
import type { AuditService } from "../vault/audit/audit.ts";
import type { Mounts } from "../vault/mounts/mounts.ts";
import type { RevokeBackend } from "../vault/types.ts";

/** How an operation ended. */
export type Outcome = "ok" | Code;

/** Receives each event once. No method throws. */
export interface TokensObserver {
  /** `mount` is undefined where nothing is mounted, or while the store is sealed. */
  request(seen: {
    readonly mount: string | undefined;
    readonly operation: CoreRequest["verb"];
    readonly outcome: Outcome;
  }): void;
  mint(seen: {
    readonly mount: string;
    readonly outcome: Outcome;
    readonly tookMs: number;
    /** Present unless it succeeded. */
    readonly refused?: { readonly path: string; readonly error: StewardError };
  }): void;
  /** A mint answered with a cached token, or one of a mount with a token cache that was not. */
  cache(seen: { readonly mount: string; readonly outcome: "hit" | "miss" }): void;
  revocation(seen: { readonly mount: string; readonly outcome: "revoked" | "failed" }): void;
  audit(seen: { readonly type: "request" | "response"; readonly ok: boolean }): void;
}

/** Ignores events. */
export const unobserved: TokensObserver = {
  request: () => undefined,
  mint: () => undefined,
  cache: () => undefined,
  revocation: () => undefined,
  audit: () => undefined,
};

/** Wraps a gate to report its requests. `mounts` is undefined while the store is sealed. */
export function watchSealGate(
  gate: SealGate,
  {
    clock,
    observe,
    mounts,
  }: {
    readonly clock: Clock;
    readonly observe: TokensObserver;
    readonly mounts: () => Mounts | undefined;
  },
): SealGate {
  return {
    ...gate,
    async handle(request) {
      const { verb: operation, path } = request;
      // Resolved first, since the request may remove its own mount.
      const matched = mounts()?.match(path);
      const mount = matched?.mount.point;
      const mints =
        matched?.mount.class === "secret" &&
        (operation === "read" || operation === "write") &&
        matched.mount.backend.find(matched.rest)?.mints === true;
      const beganMs = clock.monotonic();
      const report = (error?: StewardError): void => {
        const outcome = error?.code ?? "ok";
        observe.request({ mount, operation, outcome });
        if (!mints || mount === undefined) return;
        const refused = error === undefined ? {} : { refused: { path, error } };
        observe.mint({ mount, outcome, tookMs: clock.monotonic() - beganMs, ...refused });
      };
      try {
        const answer = await gate.handle(request);
        report();
        return answer;
      } catch (error) {
        report(toStewardError(error));
        throw error;
      }
    },
  };
}

/** Wraps an audit to report its records. */
export function watchAudit(audit: AuditService, observe: TokensObserver): AuditService {
  const report = async (type: "request" | "response", recorded: Promise<void>): Promise<void> => {
    try {
      await recorded;
    } catch (error) {
      observe.audit({ type, ok: false });
      throw error;
    }
    observe.audit({ type, ok: true });
  };
  return {
    ...audit,
    request: (request, error) => report("request", audit.request(request, error)),
    response: (request, response) => report("response", audit.response(request, response)),
    summary: (summary) => report("request", audit.summary(summary)),
  };
}

/** Wraps revocation to report each attempt. */
export function watchRevocations(revoke: RevokeBackend, observe: TokensObserver): RevokeBackend {
  return async (lease, signal) => {
    try {
      await revoke(lease, signal);
    } catch (error) {
      observe.revocation({ mount: lease.mountPoint, outcome: "failed" });
      throw error;
    }
    observe.revocation({ mount: lease.mountPoint, outcome: "revoked" });
  };
}
