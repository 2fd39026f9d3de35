/** Mints through the mount's token cache, where it has one. */
import { numberText } from "../../logical/json.ts";
import type { LogicalRequest, LogicalResponse } from "../../logical/types.ts";
import type { EngineContext } from "../context.ts";
import { findInstallation, leased, mintFresh } from "../mint.ts";
import { underCeiling } from "../scope.ts";
import type { Session } from "../session.ts";
import type { Scope } from "../types.ts";
import { requestKey } from "./equal-request.ts";
import type { Taken } from "./token-cache.ts";

/** Lookups of a request's installation: one that another request is minting for may be replaced. */
const MAX_LOOKUPS = 3;

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
  const taken = await takeShared(context, session, request, { scope, permissionSet });
  if (taken === undefined)
    return leased(context, session, scope, {
      token: await mintFresh(context, session, request, scope),
    });
  const { token, reused } = taken;
  return leased(context, session, scope, { token, share: { id: token.share, reused } });
}

/** A token through the cache; undefined when the request gets one of its own. */
async function takeShared(
  context: EngineContext,
  session: Session,
  request: LogicalRequest,
  { scope, permissionSet }: { readonly scope: Scope; readonly permissionSet: string | undefined },
): Promise<Taken | undefined> {
  const { cache } = session;
  const principal = request.requester?.principal;
  // A wrapped response promises that nobody else has seen the token.
  if (cache === undefined || principal === undefined || request.wrapped === true) return undefined;
  const { maxLeaseTtlMs } = context.host.limits();
  const keyFor = (installationId: string): string =>
    requestKey({ installationId, scope, permissionSet, principal, maxLeaseTtlMs });
  for (let lookups = 0; lookups < MAX_LOOKUPS; lookups += 1) {
    const id = await findInstallation(context, session, request, scope);
    const taken = await cache.take(keyFor(id), {
      share: request.id,
      path: request.mountPoint + request.path,
      permissionSet,
      signal: request.signal,
      mint: (signal) => mintFresh(context, session, { ...request, signal }, scope),
      keyOf: ({ installationId }) => keyFor(numberText(installationId) ?? ""),
    });
    if (taken !== undefined) return taken;
  }
  return undefined;
}
