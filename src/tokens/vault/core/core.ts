/**
 * The way of a request through the secrets manager, in the order that makes it safe (KERNEL §4): mount, token, existence, policy,
 * wrap rules, audit on disk, backend, lease, audit on disk, answer. HTTP, gRPC and Connect are only ways to build such a request.
 */
import type { Clock } from "../../../kernel/base/clock.ts";
import { StewardError, toStewardError } from "../../../kernel/base/errors.ts";
import type { Ids } from "../../../kernel/base/ids.ts";
import type { Log } from "../../../kernel/base/log.ts";
import type { Secret } from "../../../kernel/base/secret.ts";
import type { AuthGrant, Data, LogicalResponse, Operation, Remote } from "../../logical/types.ts";
import type { Mount, Mounts } from "../mounts/mounts.ts";
import type { Audit, AuditRequest, Decision, Leases, Policies, TokenEntry, Tokens } from "../types.ts";
import type { Attempts } from "./attempts.ts";
import { authorize, isAttempt, type Standing } from "./authorize.ts";
import { mint } from "./mint.ts";
import type { Wrapping, WrapInfo } from "./wrapping.ts";

/** A request, before the existence check tells a create from an update. */
export interface CoreRequest {
  readonly verb: "read" | "write" | "patch" | "delete" | "list" | "help";
  /** With its mount, without a leading slash; lists end in a slash. */
  readonly path: string;
  readonly data: Data;
  readonly token: Secret | undefined;
  readonly remote: Remote | undefined;
  readonly wrapTtlMs: number | undefined;
  readonly signal: AbortSignal;
}

/** What goes back, before anybody writes it. */
export interface CoreAnswer {
  readonly requestId: string;
  /** It was a read, list or help: no data then means that nothing is there. */
  readonly asked: boolean;
  readonly response: LogicalResponse | undefined;
  readonly lease: { readonly id: string; readonly renewable: boolean; readonly durationSeconds: number } | undefined;
  readonly auth: AuthGrant | undefined;
  readonly wrap: WrapInfo | undefined;
  readonly warnings: readonly string[];
  /** Answers of `sys/` repeat their data at the top level. */
  readonly copyToTop: boolean;
}

/** The secrets manager's one entrance. */
export interface Core {
  /** Throws StewardError; every text in it may be seen. */
  handle(request: CoreRequest): Promise<CoreAnswer>;
}

/** What the core stands on. */
export interface CoreDeps {
  readonly mounts: Mounts;
  readonly tokens: Tokens;
  readonly policies: Policies;
  readonly leases: Leases;
  readonly audit: Audit;
  readonly wrapping: Wrapping;
  readonly attempts: Attempts;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

/** A request on its way. */
export interface Journey {
  readonly request: CoreRequest;
  readonly requestId: string;
  readonly operation: Operation;
  readonly mount: Mount;
  /** What is left of the path below the mount. */
  readonly rest: string;
  readonly standing: Standing;
  readonly audited: AuditRequest;
}

/** Leads requests. */
export function createCore(deps: CoreDeps): Core {
  return {
    async handle(request) {
      const requestId = deps.ids.uuid();
      const journey = await authorize(deps, request, requestId);
      try {
        return await serve(deps, journey);
      } catch (error) {
        if (isFailedAttempt(journey, error)) deps.attempts.failed(request.remote?.address);
        throw error;
      } finally {
        // A token's last use is over, whatever came of it.
        const { entry } = journey.standing;
        if (entry?.numUses === -1) await deps.tokens.revoke(entry.key);
      }
    },
  };
}

/** A login that was refused, or the like; what fails for other reasons says nothing about who asks. */
function isFailedAttempt({ mount, standing }: Journey, error: unknown): boolean {
  return standing.declared?.unauthenticated === true && isAttempt(mount) && error instanceof StewardError && (error.code === "invalid" || error.code === "denied");
}

async function serve(deps: CoreDeps, journey: Journey): Promise<CoreAnswer> {
  const { audit } = deps;
  try {
    return await mint(deps, journey);
  } catch (thrown) {
    const error = toStewardError(thrown);
    // What cannot be audited is not said; the client learns that the audit failed.
    await audit.response(journey.audited, { error: error.message });
    throw thrown;
  }
}

/** The 404 of Vault for a path below no mount (facts §2.2). */
export function noHandler(path: string): StewardError {
  return new StewardError("not_found", `no handler for route "${path.slice(0, 300)}". route entry not found.`, { rule: "no_mount" });
}

/** Policies allow a wrap time within bounds only; undefined when the answer is not to be wrapped. */
export function wrapTtlOf(decision: Decision, asked: number | undefined): number | undefined {
  const { minMs, maxMs } = decision.wrap;
  if (minMs !== undefined && (asked ?? 0) < minMs) throw new StewardError("denied", "permission denied", { rule: "wrapping" });
  if (maxMs !== undefined && asked !== undefined && asked > maxMs) throw new StewardError("denied", "permission denied", { rule: "wrapping" });
  return asked;
}

/** The requester as backends may know it. */
export function requesterOf(entry: TokenEntry): { displayName: string; accessor: string; entityId: string; policies: readonly string[] } {
  return { displayName: entry.displayName, accessor: entry.accessor, entityId: entry.entityId, policies: entry.policies };
}
