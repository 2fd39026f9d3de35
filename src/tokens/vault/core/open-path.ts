/**
 * Requests to paths that need no token. While an address has failed too often for records of its
 * own (`refusals.ts`), its requests are tried without effect first: one that fails is counted and
 * never reaches the audit, one that would succeed goes the usual way, its record on disk before
 * anything happens.
 */
import { StewardError } from "../../../kernel/base/errors.ts";
import type { RequestProof } from "../../logical/types.ts";
import { liveEntry } from "./admission.ts";
import { requestOf } from "./mint.ts";
import type { CoreAnswer, CoreDeps, Journey } from "./types.ts";

/** Serves such a request by `serve`. */
export async function serveOpen(
  deps: CoreDeps,
  journey: Journey,
  serve: () => Promise<CoreAnswer>,
): Promise<CoreAnswer> {
  const address = journey.request.remote?.address;
  const isStranger = liveEntry(deps, journey.request) === undefined;
  const hasRecord = isStranger && deps.refusals.enter(address);
  try {
    if (isStranger && !hasRecord) await rehearse(deps, journey);
    const answer = await serve();
    if (hasRecord) deps.refusals.leave(address);
    return answer;
  } catch (error) {
    const subject = isWrongProof(error) ? subjectOf(journey) : undefined;
    throw (subject === undefined ? undefined : deps.attempts.failed(address, subject)) ?? error;
  }
}

/** Throws what `serve` would, after counting the failure in place of its records. */
async function rehearse(deps: CoreDeps, journey: Journey): Promise<void> {
  const tryOut = proofOf(journey)?.verify ?? harmless(journey);
  try {
    await tryOut?.();
  } catch (error) {
    deps.refusals.add(journey.request.remote?.address);
    throw error;
  }
}

function proofOf(journey: Journey): RequestProof | undefined {
  return journey.mount.backend.proof(requestOf(journey, undefined));
}

/**
 * What was guessed at: what the proof names, else a token that is unknown, which its backend does
 * not get to see.
 */
function subjectOf(journey: Journey): string | undefined {
  const proof = proofOf(journey);
  return proof === undefined
    ? undefined
    : (proof.subject ?? journey.request.token?.use((id) => id));
}

/** The operation itself where it changes nothing: a read, or one that the path does not have. */
function harmless(journey: Journey): (() => Promise<unknown>) | undefined {
  const { operation, mount, standing } = journey;
  const isRead = operation === "read" || operation === "list";
  const isServed = standing.declared !== undefined && operation in standing.declared.operations;
  return isRead || !isServed
    ? () => mount.backend.handle(requestOf(journey, undefined))
    : undefined;
}

/** A refusal; what fails for other reasons says nothing about the proof. */
function isWrongProof(error: unknown): boolean {
  return error instanceof StewardError && (error.code === "invalid" || error.code === "denied");
}
