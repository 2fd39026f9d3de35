/** Authorizes a request: from arrival to its audit record. Denials are audited too. */
import { StewardError } from "../../../kernel/base/errors.ts";
import { occurred } from "../../logical/occurred.ts";
import type { LogicalRequest, Operation } from "../../logical/types.ts";
import type { AuditRequest, Decision, TokenEntry } from "../types.ts";
import { admits } from "../cidrs.ts";
import type { MountedPath } from "./mounted-path.ts";
import type { CoreDeps, CoreRequest, RequestContext, Authorization } from "./types.ts";

/** Decision without a policy check. */
const OPEN: Decision = { allowed: true, granting: [], wrap: {}, root: false };
const REFUSED: Decision = { allowed: false, granting: [], wrap: {}, root: false };

/** A request whose path was looked up. */
interface Arrived {
  readonly request: CoreRequest;
  readonly requestId: string;
  /** Undefined when nothing is mounted there. */
  readonly mounted: MountedPath | undefined;
}

/**
 * Resolves with an allowed request. Throws `denied` after auditing, `not_found` where nothing is
 * mounted.
 */
export async function authorize(deps: CoreDeps, arrived: Arrived): Promise<RequestContext> {
  const { request } = arrived;
  const entry = request.unread === true ? undefined : await liveToken(deps, request);
  if (entry === undefined)
    return await rejectUnauthenticated(deps, {
      ...arrived,
      entry,
      operation: undecided(request),
    });
  try {
    return await decide(deps, { ...arrived, entry });
  } catch (error) {
    if (entry.numUses === -1) await deps.tokens.revoke(entry.key);
    throw error;
  }
}

/**
 * Context of a request to an unauthenticated path, else undefined. Trusted backends still receive
 * the token, e.g. the one to unwrap, and its entry if it is live and admitted from the address.
 */
export function unauthenticatedContext(
  deps: CoreDeps,
  { request, requestId, mounted }: Arrived,
): RequestContext | undefined {
  if (mounted?.declared?.unauthenticated !== true || request.verb === "help") return undefined;
  const { mount, rest, declared } = mounted;
  const operation = undecided(request);
  const sent = mount.trusted ? request.token : undefined;
  const live = sent === undefined ? undefined : deps.tokens.lookup(sent);
  const entry = admits(live?.boundCidrs ?? [], request.remote?.address) ? live : undefined;
  const authorization: Authorization = {
    tokenId: sent,
    entry,
    decision: OPEN,
    wrapTtlMs: request.wrapTtlMs,
    declared,
  };
  return {
    request,
    requestId,
    operation,
    mount,
    rest,
    authorization,
    audited: auditOf({ request, requestId, mounted, entry, operation }, OPEN),
  };
}

/**
 * Rejects a request without a live token. An unknown token counts as a failed attempt; a missing
 * one does not.
 */
async function rejectUnauthenticated(
  deps: CoreDeps,
  refused: Undecided & { readonly operation: Operation },
): Promise<never> {
  const { token, remote } = refused.request;
  const limited = token?.use((id) => deps.attempts.failed(remote?.address, id));
  if (deps.refusals.enter(remote?.address)) await auditRefusal(deps, refused);
  else deps.refusals.add(remote?.address);
  throw limited ?? new StewardError("denied", "permission denied", { rule: "policy" });
}

/**
 * Checks that the token is live, allowed from this address and has a use left, which is consumed.
 */
async function liveToken(
  deps: CoreDeps,
  { token, remote }: CoreRequest,
): Promise<TokenEntry | undefined> {
  const entry = token === undefined ? undefined : deps.tokens.lookup(token);
  if (entry === undefined || !admits(entry.boundCidrs, remote?.address)) return undefined;
  return entry.numUses === 0 ? entry : deps.tokens.use(entry);
}

interface Undecided extends Arrived {
  readonly entry: TokenEntry | undefined;
}

async function decide(
  deps: CoreDeps,
  undecidedRequest: Undecided & { readonly entry: TokenEntry },
): Promise<RequestContext> {
  const { request, requestId, mounted, entry } = undecidedRequest;
  const operation =
    mounted === undefined ? undecided(request) : await operationOf(request, requestId, mounted);
  const known = { ...undecidedRequest, operation };
  const decision =
    operation === "help"
      ? OPEN
      : deps.policies.acl(entry.policies).check({
          operation,
          path: request.path,
          data: request.data,
          sudo: mounted?.declared?.sudo === true,
        });
  if (!decision.allowed) return refuse(deps, known);
  if (mounted === undefined) throw noHandler(request.path);
  let wrapTtlMs: number | undefined;
  try {
    wrapTtlMs = wrapTtlOf(decision, request.wrapTtlMs);
  } catch {
    return refuse(deps, known);
  }
  const authorization: Authorization = {
    tokenId: request.token,
    entry,
    decision,
    wrapTtlMs,
    declared: mounted.declared,
  };
  return {
    request,
    requestId,
    operation,
    mount: mounted.mount,
    rest: mounted.rest,
    authorization,
    audited: auditOf({ ...known, mounted }, decision),
  };
}

/** A POST is a create when the backend reports that the resource does not exist. */
async function operationOf(
  request: CoreRequest,
  requestId: string,
  { mount, rest }: MountedPath,
): Promise<Operation> {
  if (request.verb !== "write") return request.verb;
  const probe: LogicalRequest = {
    id: requestId,
    operation: "update",
    path: rest,
    data: request.data,
    mountPoint: mount.point,
    signal: request.signal,
  };
  return (await mount.backend.exists(probe)) === false ? "create" : "update";
}

function undecided({ verb }: CoreRequest): Operation {
  return verb === "write" ? "update" : verb;
}

async function refuse(
  deps: CoreDeps,
  refused: Undecided & { readonly operation: Operation },
): Promise<never> {
  await auditRefusal(deps, refused);
  throw new StewardError("denied", occurred("permission denied"), { rule: "policy" });
}

async function auditRefusal(
  deps: CoreDeps,
  refused: Undecided & { readonly operation: Operation },
): Promise<void> {
  const audited = auditOf(refused, REFUSED);
  await deps.audit.request(audited, "permission denied");
  await deps.audit.response(audited, { error: "permission denied" });
}

function auditOf(
  { request, requestId, mounted, entry, operation }: Undecided & { readonly operation: Operation },
  decision: Decision,
): AuditRequest {
  return {
    id: requestId,
    operation,
    path: request.path,
    data: Object.keys(request.data).length === 0 ? undefined : request.data,
    remote: request.remote,
    mount: mounted?.mount,
    token: request.token === undefined ? undefined : { id: request.token, entry },
    wrapTtlMs: request.wrapTtlMs,
    granting: decision.granting,
    allowed: decision.allowed,
  };
}

/** Vault's 404 for a path without a mount. */
function noHandler(path: string): StewardError {
  return new StewardError(
    "not_found",
    `no handler for route "${path.slice(0, 300)}". route entry not found.`,
    { rule: "no_mount" },
  );
}

/** The wrap TTL within the policies' bounds; undefined without wrapping. */
function wrapTtlOf(decision: Decision, requestedMs: number | undefined): number | undefined {
  const { minMs, maxMs } = decision.wrap;
  if (minMs !== undefined && (requestedMs ?? 0) < minMs)
    throw new StewardError("denied", "permission denied", { rule: "wrapping" });
  // A maximum makes wrapping mandatory.
  if (maxMs !== undefined && (requestedMs === undefined || requestedMs > maxMs))
    throw new StewardError("denied", "permission denied", { rule: "wrapping" });
  return requestedMs;
}
