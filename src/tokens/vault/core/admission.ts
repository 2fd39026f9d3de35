/**
 * Decides by a request's head, before its body is read: whether its token is live, and the largest
 * body allowed. Consumes no use of the token, writes nothing, records nothing.
 */
import type { RequestHeaders } from "../../../kernel/service.ts";
import { admits } from "../cidrs.ts";
import { WRAPPING_POLICY } from "../policies/built-in.ts";
import type { TokenEntry } from "../types.ts";
import { resolvePath } from "./mounted-path.ts";
import { tokenIn } from "./request-head.ts";
import type { Core, CoreDeps, RequestHead } from "./types.ts";

/** Body limit with a live token. */
export const AUTHENTICATED_BODY_BYTES = 32 * 1024 * 1024;

/** Body limit without one, on unauthenticated paths: logins, unwrapping, init and unseal. */
export const OPEN_BODY_BYTES = 64 * 1024;

/** Undefined for a missing, unknown, ended or unreadable token. */
export function liveEntry(
  { tokens }: Pick<CoreDeps, "tokens">,
  { token }: Pick<RequestHead, "token">,
): TokenEntry | undefined {
  try {
    return token === undefined ? undefined : tokens.lookup(token);
  } catch {
    // A damaged row is reported when the request is handled.
    return undefined;
  }
}

/** As `liveEntry`; undefined also for a token that may not be used from the request's address. */
export function admittedEntry(
  deps: Pick<CoreDeps, "tokens">,
  { token, remote }: Pick<RequestHead, "token" | "remote">,
): TokenEntry | undefined {
  const entry = liveEntry(deps, { token });
  return entry !== undefined && admits(entry.boundCidrs, remote?.address) ? entry : undefined;
}

/** Implements `Core.maxBodyBytes` while unsealed. */
export function maxBodyBytes(deps: CoreDeps, head: RequestHead): number {
  const entry = liveEntry(deps, head);
  if (entry !== undefined && !isWrapping(entry) && admits(entry.boundCidrs, head.remote?.address))
    return AUTHENTICATED_BODY_BYTES;
  return entry !== undefined || resolvePath(deps, head)?.declared?.unauthenticated === true
    ? OPEN_BODY_BYTES
    : 0;
}

/**
 * Implements `BoundService.hasCredential` and `PlainRoute.hasCredential`. Wrapping tokens count.
 */
export function carriesLiveToken(core: Pick<Core, "isLive">, headers: RequestHeaders): boolean {
  const token = tokenIn(headers);
  return token !== undefined && core.isLive(token);
}

/** A wrapping token only permits unwrapping, which takes a small body. */
export function isWrapping({ policies }: TokenEntry): boolean {
  return policies.length > 0 && policies.every((name) => name === WRAPPING_POLICY);
}
