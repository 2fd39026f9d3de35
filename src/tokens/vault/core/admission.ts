/**
 * What the head of a request decides before its body is read: whether its token is live, and how
 * many bytes of body it may bring. Nothing here takes a use of a token, writes or records anything.
 */
import type { RequestHeaders } from "../../../kernel/service.ts";
import { admits } from "../cidrs.ts";
import { WRAPPING_POLICY } from "../policies/built-in.ts";
import type { TokenEntry } from "../types.ts";
import { resolvePath } from "./mounted-path.ts";
import { tokenIn } from "./request-head.ts";
import type { Core, CoreDeps, RequestHead } from "./types.ts";

/** Body of a request with a live token. */
export const AUTHENTICATED_BODY_BYTES = 32 * 1024 * 1024;

/**
 * Body of a request without one, on a path that takes such requests: logins, unwrapping, init and
 * unseal.
 */
export const OPEN_BODY_BYTES = 64 * 1024;

/** The entry of a live token; undefined for an unknown, ended or unreadable one, and for none. */
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

/** As `Core.maxBodyBytes`, while the store is unsealed. */
export function maxBodyBytes(deps: CoreDeps, head: RequestHead): number {
  const entry = liveEntry(deps, head);
  if (entry !== undefined && !isWrapping(entry) && admits(entry.boundCidrs, head.remote?.address))
    return AUTHENTICATED_BODY_BYTES;
  return entry !== undefined || resolvePath(deps, head)?.declared?.unauthenticated === true
    ? OPEN_BODY_BYTES
    : 0;
}

/**
 * Whether headers carry a live token; for `BoundService.hasCredential` and
 * `PlainRoute.hasCredential`. A wrapping token counts.
 */
export function carriesLiveToken(core: Pick<Core, "isLive">, headers: RequestHeaders): boolean {
  const token = tokenIn(headers);
  return token !== undefined && core.isLive(token);
}

/** Good for unwrapping and nothing else, which takes a small body. */
function isWrapping({ policies }: TokenEntry): boolean {
  return policies.length > 0 && policies.every((name) => name === WRAPPING_POLICY);
}
