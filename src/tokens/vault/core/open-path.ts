/**
 * Requests to unauthenticated paths. Once an address has failed too often for individual audit
 * records (`refusals.ts`), its requests first run without side effects: a failing one is counted
 * and not audited, a succeeding one is then handled normally, with its record durable first.
 * Requests that prove no credential cannot have responses wrapped and are limited by address.
 */
import { StewardError } from "../../../kernel/base/errors.ts";
import type { RequestProof } from "../../logical/types.ts";
import { admittedEntry, isWrapping } from "./admission.ts";
import { requestOf } from "./handle-authorized.ts";
import type { CoreAnswer, CoreDeps, RequestContext } from "./types.ts";

/** Handles such a request through `serve`. */
export async function serveOpen(
  deps: CoreDeps,
  context: RequestContext,
  serve: () => Promise<CoreAnswer>,
): Promise<CoreAnswer> {
  const address = context.request.remote?.address;
  const entry = admittedEntry(deps, context.request);
  const isUnauthenticated = entry === undefined;
  const hasRecord = isUnauthenticated && deps.refusals.enter(address);
  const refusal =
    (entry === undefined || isWrapping(entry) ? refusedWrapping(context) : undefined) ??
    (isUnauthenticated && !hasProof(context) ? deps.refusals.serve(address) : undefined);
  if (refusal !== undefined)
    return await refuse(deps, context, { refusal, hasRecord: hasRecord || !isUnauthenticated });
  try {
    if (isUnauthenticated && !hasRecord) await dryRun(deps, context);
    const answer = await serve();
    if (hasRecord) deps.refusals.leave(address);
    return answer;
  } catch (error) {
    const subject = isWrongProof(error) ? subjectOf(context) : undefined;
    throw (subject === undefined ? undefined : deps.attempts.failed(address, subject)) ?? error;
  }
}

/** Each wrapped response takes one of the rows that all clients share. */
function refusedWrapping({ request, authorization }: RequestContext): StewardError | undefined {
  if (request.wrapTtlMs === undefined || authorization.declared?.provesCredential === true)
    return undefined;
  return new StewardError(
    "invalid",
    "X-Vault-Wrap-TTL (over gRPC wrap_ttl) needs a token here: without one, only logins and sys/wrapping/unwrap and rewrap take it; send X-Vault-Token, or leave X-Vault-Wrap-TTL out",
    { field: "X-Vault-Wrap-TTL", rule: "wrapping" },
  );
}

/** Reading the state of an attempt with key shares proves nothing. A right proof always passes. */
function hasProof({ operation, authorization }: RequestContext): boolean {
  return operation === "update" && authorization.declared?.proof !== undefined;
}

async function refuse(
  deps: CoreDeps,
  { request, audited }: RequestContext,
  { refusal, hasRecord }: { readonly refusal: StewardError; readonly hasRecord: boolean },
): Promise<never> {
  if (hasRecord) {
    await deps.audit.request(audited, refusal.message);
    await deps.audit.response(audited, { error: refusal.message });
  } else deps.refusals.add(request.remote?.address);
  throw refusal;
}

/** Throws what `serve` would, and counts the failure instead of recording it. */
async function dryRun(deps: CoreDeps, context: RequestContext): Promise<void> {
  const tryOut = proofOf(context)?.verify ?? harmless(context);
  try {
    await tryOut?.();
  } catch (error) {
    deps.refusals.add(context.request.remote?.address);
    throw error;
  }
}

function proofOf(context: RequestContext): RequestProof | undefined {
  return context.mount.backend.proof(requestOf(context, undefined));
}

/** The subject of the failed attempt: that of the proof, else the unknown token. */
function subjectOf(context: RequestContext): string | undefined {
  const proof = proofOf(context);
  return proof === undefined
    ? undefined
    : (proof.subject ?? context.request.token?.use((id) => id));
}

/**
 * The operation itself if it has no side effects: a read, or one that the path does not support.
 */
function harmless(context: RequestContext): (() => Promise<unknown>) | undefined {
  const { operation, mount, authorization } = context;
  const isRead = operation === "read" || operation === "list";
  const isServed =
    authorization.declared !== undefined && operation in authorization.declared.operations;
  return isRead || !isServed
    ? () => mount.backend.handle(requestOf(context, undefined))
    : undefined;
}

/** Whether the failure concerns the proof. */
function isWrongProof(error: unknown): boolean {
  return error instanceof StewardError && (error.code === "invalid" || error.code === "denied");
}
