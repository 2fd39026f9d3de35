/** Mints through the mount's token cache, where it has one. */
import { numberText } from "../../logical/json.ts";
import type { LogicalRequest, LogicalResponse } from "../../logical/types.ts";
import type { EngineContext } from "../context.ts";
import { leased, mintFresh } from "../mint.ts";
import { underCeiling } from "../scope.ts";
import type { Session } from "../session.ts";
import type { Scope } from "../types.ts";
import { requestKey } from "./equal-request.ts";

/**
 * Answers a mint request with a validated scope; `permissionSet` names the set it came from. Throws
 * StewardError with the platform's cause.
 */
export async function mint(
  context: EngineContext,
  session: Session,
  request: LogicalRequest,
  { wanted, permissionSet }: { readonly wanted: Scope; readonly permissionSet?: string },
): Promise<LogicalResponse> {
  const permissions = underCeiling(wanted.permissions, session.config.maxPermissions);
  const scope = { ...wanted, permissions };
  const principal = request.requester?.principal;
  // A wrapped response promises that nobody else has seen the token.
  const cache = request.wrapped === true || principal === undefined ? undefined : session.cache;
  const id = cache === undefined ? undefined : await installationOf(session, scope, request.signal);
  if (cache === undefined || id === undefined || principal === undefined)
    return leased(context, session, scope, {
      token: await mintFresh(context, session, request, scope),
    });
  const key = requestKey({
    installationId: id,
    scope,
    permissionSet,
    principal,
    maxLeaseTtlMs: context.host.limits().maxLeaseTtlMs,
  });
  const { token, reused } = await cache.take(key, {
    share: request.id,
    path: request.mountPoint + request.path,
    permissionSet,
    signal: request.signal,
    mint: (signal) => mintFresh(context, session, { ...request, signal }, scope),
  });
  return leased(context, session, scope, { token, share: { id: token.share, reused } });
}

/** Undefined when it is not found; minting finds the cause. */
async function installationOf(
  { installations }: Session,
  { installationId, orgName }: Scope,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (installationId !== 0) return String(installationId);
  const found = await installations.find(orgName, signal).catch(() => undefined);
  return numberText(found?.id);
}
