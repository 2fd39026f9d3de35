/** What the secrets manager tells of its work to whoever counts it; it knows nothing of metrics. */
import { toStewardError, type Code } from "../../kernel/base/errors.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import type { CoreRequest } from "../vault/core/types.ts";
import type { SealGate } from "../vault/core/seal-gate.ts";
import type { AuditService } from "../vault/audit/audit.ts";
import type { Mounts } from "../vault/mounts/mounts.ts";
import type { RevokeBackend } from "../vault/types.ts";

/** How something ended. */
export type Outcome = "ok" | Code;

/** Hears of everything that happens once. No method throws. */
export interface TokensObserver {
  /** `mount` is undefined where nothing is mounted, or while the store is sealed. */
  request(seen: {
    readonly mount: string | undefined;
    readonly operation: CoreRequest["verb"];
    readonly outcome: Outcome;
  }): void;
  mint(seen: { readonly mount: string; readonly outcome: Outcome; readonly tookMs: number }): void;
  revocation(seen: { readonly mount: string; readonly outcome: "revoked" | "failed" }): void;
  audit(seen: { readonly type: "request" | "response"; readonly ok: boolean }): void;
}

/** Hears nothing. */
export const unobserved: TokensObserver = {
  request: () => undefined,
  mint: () => undefined,
  revocation: () => undefined,
  audit: () => undefined,
};

/** A front whose requests are told. `mounts` is undefined while the store is sealed. */
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
      // Looked up before: the request may take its own mount away.
      const matched = mounts()?.match(path);
      const mount = matched?.mount.point;
      const mints =
        matched?.mount.class === "secret" &&
        (operation === "read" || operation === "write") &&
        matched.mount.backend.find(matched.rest)?.mints === true;
      const beganMs = clock.monotonic();
      const report = (outcome: Outcome): void => {
        observe.request({ mount, operation, outcome });
        if (mints && mount !== undefined)
          observe.mint({ mount, outcome, tookMs: clock.monotonic() - beganMs });
      };
      try {
        const answer = await gate.handle(request);
        report("ok");
        return answer;
      } catch (error) {
        report(toStewardError(error).code);
        throw error;
      }
    },
  };
}

/** An audit whose records are told. */
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

/** Revocations that are told, each try by itself. */
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
