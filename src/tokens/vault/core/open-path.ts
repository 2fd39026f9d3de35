/**
 * Requests to unauthenticated paths. Once an address has failed too often for individual audit
 * records (`refusals.ts`), its requests first run without side effects: a failing one is counted
 * and not audited, a succeeding one is then handled normally, with its record durable first.
 */
import { StewardError } from "../../../kernel/base/errors.ts";
import type { RequestProof } from "../../logical/types.ts";
import { admittedEntry } from "./admission.ts";
import { requestOf } from "./handle-authorized.ts";
import type { CoreAnswer, CoreDeps, RequestContext } from "./types.ts";

/** Handles such a request through `serve`. */
export async function serveOpen(
  deps: CoreDeps,
  context: RequestContext,
  serve: () => Promise<CoreAnswer>,
): Promise<CoreAnswer> {
  const address = context.request.remote?.address;
  const isUnauthenticated = admittedEntry(deps, context.request) === undefined;
  const hasRecord = isUnauthenticated && deps.refusals.enter(address);
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
