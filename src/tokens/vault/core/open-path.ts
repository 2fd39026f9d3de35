/**
 * Requests to paths that need no token. While an address has failed too often for records of its
 * own (`refusals.ts`), its requests are tried without effect first: one that fails is counted and
 * never reaches the audit, one that would succeed goes the usual way, its record on disk before
 * anything happens.
 */
import { StewardError } from "../../../kernel/base/errors.ts";
import type { RequestProof } from "../../logical/types.ts";
import { liveEntry } from "./admission.ts";
import { requestOf } from "./handle-authorized.ts";
import type { CoreAnswer, CoreDeps, RequestContext } from "./types.ts";

/** Serves such a request by `serve`. */
export async function serveOpen(
  deps: CoreDeps,
  context: RequestContext,
  serve: () => Promise<CoreAnswer>,
): Promise<CoreAnswer> {
  const address = context.request.remote?.address;
  const isUnauthenticated = liveEntry(deps, context.request) === undefined;
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

/** Throws what `serve` would, after counting the failure in place of its records. */
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

/**
 * What was guessed at: what the proof names, else a token that is unknown, which its backend does
 * not get to see.
 */
function subjectOf(context: RequestContext): string | undefined {
  const proof = proofOf(context);
  return proof === undefined
    ? undefined
    : (proof.subject ?? context.request.token?.use((id) => id));
}

/** The operation itself where it changes nothing: a read, or one that the path does not have. */
function harmless(context: RequestContext): (() => Promise<unknown>) | undefined {
  const { operation, mount, standing } = context;
  const isRead = operation === "read" || operation === "list";
  const isServed = standing.declared !== undefined && operation in standing.declared.operations;
  return isRead || !isServed
    ? () => mount.backend.handle(requestOf(context, undefined))
    : undefined;
}

/** A refusal; what fails for other reasons says nothing about the proof. */
function isWrongProof(error: unknown): boolean {
  return error instanceof StewardError && (error.code === "invalid" || error.code === "denied");
}
