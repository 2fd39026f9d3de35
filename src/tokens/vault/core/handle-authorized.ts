/**
 * Handles an authorized request. The audit record and, for minting paths, the intent are durable
 * before the backend runs; the lease and the second audit record are durable before the response.
 */
import { assert, StewardError, toStewardError } from "../../../kernel/base/errors.ts";
import type { Data, LogicalRequest, LogicalResponse, SecretGrant } from "../../logical/types.ts";
import type { HostRequest } from "../auth/context.ts";
import type { Mount } from "../mounts/mounts.ts";
import type { AuditResponse, Intent, IssuedAuth, LeaseInfo, TokenEntry } from "../types.ts";
import type { CoreAnswer, CoreDeps, RequestContext } from "./types.ts";
import { goDurationText } from "./go-duration.ts";
import { withDeadline } from "../../../kernel/async/deadline.ts";

/** A shared secret may end between its response and its lease; then the backend is asked again. */
const MAX_ANSWERS = 3;
/** Deadline for revoking a token whose lease could not be stored. */
const UNDO_MS = 30_000;
/** A batch token with less time left gets no lease: lease times are whole seconds. */
const MIN_LEASE_MS = 1_000;
const ONE_USE =
  "Secret cannot be returned; token had one use left, so leased credentials were immediately revoked.";

export async function handleAuthorized(
  deps: CoreDeps,
  context: RequestContext,
): Promise<CoreAnswer> {
  const { authorization } = context;
  const mints =
    authorization.declared?.mints === true &&
    (context.operation === "create" ||
      context.operation === "update" ||
      context.operation === "read");
  if (mints && authorization.entry?.numUses === -1)
    throw new StewardError("invalid", ONE_USE, { rule: "num_uses" });
  const [intent] = await begin(deps, context, mints);
  const effect = intent === undefined ? undefined : new EffectRecord();
  let response: LogicalResponse | undefined;
  try {
    // The last check and the registration of the lease in `finish` are one turn.
    for (let answers = 1; ; answers += 1) {
      response = listed(context, await context.mount.backend.handle(requestOf(context, effect)));
      if (isUsable(deps, response)) break;
      if (answers === MAX_ANSWERS)
        throw new StewardError("not_ready", "the token in the response was revoked meanwhile", {
          retryAfterMs: 1_000,
        });
    }
  } catch (error) {
    if (intent !== undefined) await settle(deps, intent, effect, error);
    throw error;
  }
  if (intent !== undefined && response?.secret === undefined) deps.leases.drop(intent);
  return finish(deps, context, response, intent);
}

/** Whether no lease is needed, or the secret may get one. */
function isUsable(
  { leases }: Pick<CoreDeps, "leases">,
  response: LogicalResponse | undefined,
): boolean {
  const share = response?.secret?.share;
  return share === undefined || !share.reused || leases.sharing.isOpen(share.id);
}

/** An empty list means "no data", as in Vault. */
function listed(
  { operation }: RequestContext,
  response: LogicalResponse | undefined,
): LogicalResponse | undefined {
  const keys = response?.data?.["keys"];
  return operation === "list" && Array.isArray(keys) && keys.length === 0 ? undefined : response;
}

/** Writes both records; if one fails, neither counts. */
async function begin(
  deps: CoreDeps,
  { requestId, request, mount, authorization, audited }: RequestContext,
  mints: boolean,
): Promise<[Intent | undefined]> {
  if (!mints) {
    await deps.audit.request(audited);
    return [undefined];
  }
  const about = declaredOnly(
    request.data,
    authorization.declared?.fields.fields.map((field) => field.name) ?? [],
  );
  const [intent, recorded] = await Promise.allSettled([
    deps.leases.intend({ requestId, path: request.path, mountPoint: mount.point, about }),
    deps.audit.request(audited),
  ]);
  if (recorded.status === "rejected") {
    if (intent.status === "fulfilled") deps.leases.drop(intent.value);
    throw recorded.reason;
  }
  if (intent.status === "rejected") throw intent.reason;
  return [intent.value];
}

/** Keeps only declared fields: undeclared ones could hold anything. */
function declaredOnly(data: Data, names: readonly string[]): Data {
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(data, name)).map((name) => [name, data[name]]),
  );
}

/** Records what a backend reports about its external call. */
class EffectRecord {
  about: Data = {};
  begun = false;

  begin(about: Data): void {
    this.about = about;
    this.begun = true;
  }

  none(): void {
    this.begun = false;
  }
}

async function settle(
  deps: CoreDeps,
  intent: Intent,
  effect: EffectRecord | undefined,
  error: unknown,
): Promise<void> {
  if (effect?.begun === true)
    await deps.leases.orphan(intent, toStewardError(error).message, effect.about);
  else deps.leases.drop(intent);
}

/** The request that the mount's backend receives. */
export function requestOf(
  { request, requestId, operation, mount, rest, authorization }: RequestContext,
  effect: EffectRecord | undefined,
): LogicalRequest {
  const { entry, tokenId } = authorization;
  const logical: HostRequest = {
    id: requestId,
    operation,
    path: rest,
    data: request.data,
    mountPoint: mount.point,
    signal: request.signal,
    ...(request.remote === undefined ? {} : { remote: request.remote }),
    ...(entry === undefined ? {} : { requester: requesterOf(entry) }),
    ...(effect === undefined ? {} : { effect }),
    ...(authorization.wrapTtlMs === undefined ? {} : { wrapped: true }),
    // Only built-in backends receive the token itself.
    ...(tokenId === undefined || !mount.trusted
      ? {}
      : { sentToken: tokenId, ...(entry === undefined ? {} : { token: { id: tokenId, entry } }) }),
  };
  return logical;
}

async function finish(
  deps: CoreDeps,
  context: RequestContext,
  response: LogicalResponse | undefined,
  intent: Intent | undefined,
): Promise<CoreAnswer> {
  const { mount, requestId, operation, authorization } = context;
  const auth = issuedBy(mount, response);
  const warnings = [...(response?.warnings ?? [])];
  const leased =
    response?.secret === undefined
      ? undefined
      : lease(deps, context, response, { grant: response.secret, intent, warnings });
  const answer: CoreAnswer = {
    requestId,
    response,
    warnings,
    auth,
    wrap: undefined,
    isRead: operation === "read" || operation === "list" || operation === "help",
    lease:
      leased === undefined
        ? undefined
        : {
            id: leased.info.id,
            renewable: leased.info.renewable,
            durationSeconds: Math.round((leased.info.expiresAtMs - leased.info.issuedAtMs) / 1000),
          },
    copyToTop: mount.class === "system",
  };
  const wrappable = response?.data !== undefined || auth !== undefined;
  try {
    if (leased !== undefined) assertAlive(deps, authorization.entry);
    if (authorization.wrapTtlMs !== undefined && wrappable && operation !== "list")
      return await wrapped(deps, context, answer, leased);
    await Promise.all([leased?.stored, deps.audit.response(context.audited, auditOf(answer))]);
    return answer;
  } catch (error) {
    await undo(deps, context, { leased, auth, response, intent });
    throw error;
  }
}

/** Only built-in backends may issue tokens: others could make themselves root. */
function issuedBy(mount: Mount, response: LogicalResponse | undefined): IssuedAuth | undefined {
  const auth = response?.auth;
  if (auth === undefined) return undefined;
  assert(mount.trusted && "entry" in auth, `the backend at ${mount.point} may hand out tokens`);
  return auth as IssuedAuth;
}

interface Leased {
  readonly info: LeaseInfo;
  readonly stored: Promise<void>;
}

function lease(
  deps: CoreDeps,
  { request, mount, authorization }: RequestContext,
  response: LogicalResponse,
  {
    grant,
    intent,
    warnings,
  }: { grant: SecretGrant; intent: Intent | undefined; warnings: string[] },
): Leased {
  const { entry } = authorization;
  const { maxLeaseTtlMs } = deps.mounts.limits(mount);
  const mostMs = Math.min(maxLeaseTtlMs, Math.max(0, batchTimeLeft(deps, entry)));
  const ttlMs = Math.min(grant.ttlMs, mostMs);
  if (ttlMs < grant.ttlMs)
    warnings.push(
      `TTL of "${goDurationText(grant.ttlMs)}" exceeded the effective max_ttl of "${goDurationText(mostMs)}"; TTL value is capped accordingly`,
    );
  const owner = leaseOwner(entry);
  const registered = deps.leases.register({
    path: request.path,
    mountPoint: mount.point,
    response,
    ttlMs,
    intent,
    token: owner === undefined ? undefined : { key: owner, expiresAtMs: entry?.expiresAtMs },
  });
  // Awaited later; until then a rejection must not count as unhandled.
  registered.stored.catch(() => undefined);
  return registered;
}

/** Key of the token that leases belong to: a batch token is not stored, so they are its parent's. */
function leaseOwner(entry: TokenEntry | undefined): string | undefined {
  return entry?.type === "batch" ? entry.parent : entry?.key;
}

/** Infinite for other tokens, which end their leases when they end; negative past its end. */
function batchTimeLeft({ clock }: CoreDeps, entry: TokenEntry | undefined): number {
  return entry?.type !== "batch" || entry.expiresAtMs === undefined
    ? Number.POSITIVE_INFINITY
    : entry.expiresAtMs - clock.now();
}

/**
 * Throws `denied` when the request's token has ended while the backend ran: what that created must
 * not be handed out any more. Called in the turn in which its lease was registered.
 */
function assertAlive(deps: CoreDeps, entry: TokenEntry | undefined): void {
  const owner = leaseOwner(entry);
  const isOver =
    batchTimeLeft(deps, entry) < MIN_LEASE_MS ||
    (owner !== undefined && deps.tokens.hasEnded(owner));
  if (isOver) throw new StewardError("denied", "permission denied", { rule: "token" });
}

async function wrapped(
  deps: CoreDeps,
  context: RequestContext,
  answer: CoreAnswer,
  leased: Leased | undefined,
): Promise<CoreAnswer> {
  await leased?.stored;
  const { token, info } = await deps.wrapping.wrap(answer, {
    path: context.request.path,
    ttlMs: context.authorization.wrapTtlMs ?? 0,
  });
  const outer: CoreAnswer = {
    ...answer,
    response: undefined,
    lease: undefined,
    auth: undefined,
    wrap: info,
    warnings: [],
  };
  await deps.audit.response(context.audited, {
    wrap: {
      token,
      accessor: info.accessor,
      ttlMs: info.ttl * 1000,
      creationPath: info.creation_path,
    },
  });
  return outer;
}

function auditOf({ response, lease, auth, warnings }: CoreAnswer): AuditResponse {
  return {
    data: response?.data,
    warnings: warnings.length === 0 ? undefined : warnings,
    leaseId: lease?.id,
    auth: auth === undefined ? undefined : { id: auth.id, entry: auth.entry },
  };
}

/**
 * Revokes what was created but cannot be returned; on failure a record remains: the lease with its
 * timer, or an orphan.
 */
async function undo(
  deps: CoreDeps,
  context: RequestContext,
  made: {
    readonly leased: Leased | undefined;
    readonly auth: IssuedAuth | undefined;
    readonly response: LogicalResponse | undefined;
    readonly intent: Intent | undefined;
  },
): Promise<void> {
  const { leased, auth, response, intent } = made;
  try {
    if (leased !== undefined) {
      const stored = await leased.stored.then(
        () => true,
        () => false,
      );
      if (stored) await deps.leases.revoke(leased.info.id, { sync: false });
      else await endUnstored(deps, context, { id: leased.info.id, response, intent });
    }
    if (auth?.made === true) await deps.tokens.revoke(auth.entry.key);
  } catch (error) {
    deps.log.error("revoking what a failed request created failed; it expires at its TTL", {
      error: toStewardError(error),
    });
  }
}

/** The lease could not be stored, e.g. on a full disk: only this process knows what was created. */
async function endUnstored(
  deps: CoreDeps,
  { requestId, request, mount }: RequestContext,
  {
    id,
    response,
    intent,
  }: {
    readonly id: string;
    readonly response: LogicalResponse | undefined;
    readonly intent: Intent | undefined;
  },
): Promise<void> {
  try {
    const share = response?.secret?.share;
    // Others hold the token; the last of their leases revokes it.
    if (share !== undefined && !(await deps.leases.sharing.abandon(share.id))) {
      if (intent !== undefined) deps.leases.drop(intent);
      return;
    }
    const tooSlow = (): StewardError =>
      new StewardError("deadline", `the backend did not revoke it within ${UNDO_MS / 1000} s`);
    await withDeadline({ clock: deps.clock, timeoutMs: UNDO_MS, reason: tooSlow }, (signal) =>
      mount.backend.handle({
        id: requestId,
        operation: "revoke",
        path: request.path.slice(mount.point.length),
        data: response?.data ?? {},
        mountPoint: mount.point,
        signal,
        secret: { internalData: response?.secret?.internalData ?? {}, leaseId: id },
      }),
    );
    if (intent !== undefined) deps.leases.drop(intent);
  } catch (error) {
    if (intent !== undefined)
      await deps.leases.orphan(
        intent,
        "its lease could not be stored, and it could not be revoked",
        {},
      );
    throw error;
  }
}

/** The requester as backends may know it. */
function requesterOf(entry: TokenEntry): {
  displayName: string;
  accessor: string;
  entityId: string;
  policies: readonly string[];
  principal: string;
} {
  return {
    displayName: entry.displayName,
    accessor: entry.accessor,
    entityId: entry.entityId,
    policies: entry.policies,
    principal: principalOf(entry),
  };
}

/** What two logins must have in common to count as one requester; see `docs/decisions/token-cache.md`. */
function principalOf(entry: TokenEntry): string {
  const meta = Object.entries(entry.meta ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([
    entry.path,
    entry.role ?? "",
    entry.entityId,
    entry.displayName,
    entry.policies.toSorted(),
    meta,
    entry.boundCidrs.toSorted(),
  ]);
}
