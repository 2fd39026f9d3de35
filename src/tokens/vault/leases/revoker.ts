/**
 * Revokes leases through their backends: a deadline per call, bounded concurrency, and no secrets
 * in failure texts.
 */
import type { Clock } from "../../../kernel/base/clock.ts";
import { StewardError, toStewardError } from "../../../kernel/base/errors.ts";
import type { LeaseRow } from "../../../gen/steward/state/v1/tokens_leases_pb.ts";
import type { RevokeBackend } from "../types.ts";
import { leaseToRevoke } from "./rows.ts";
import { withDeadline } from "../../../kernel/async/deadline.ts";
import { createSemaphore } from "../../../kernel/async/semaphore.ts";

/** How long a backend may take. */
export const REVOKE_DEADLINE_MS = 30_000;
const MAX_FAILURE_LENGTH = 500;
/** Shorter texts stand in too many messages by chance. */
const MIN_SECRET_LENGTH = 8;

/** A lease as it is stored. */
export interface StoredLease {
  readonly seq: number;
  readonly row: LeaseRow;
}

/** What came of asking. `stopped` counts as nothing: the process is about to end. */
export type Outcome = StoredLease &
  (
    | { readonly result: "revoked" | "stopped" }
    | { readonly result: "failed"; readonly error: StewardError }
  );

/** Asks about all of these; never rejects. */
export type Revoker = (
  batch: readonly StoredLease[],
  signal: AbortSignal,
) => Promise<readonly Outcome[]>;

export interface RevokerDeps {
  readonly revoke: RevokeBackend;
  readonly clock: Clock;
  readonly deadlineMs: number;
  /** Calls at once. */
  readonly parallel: number;
}

/** A revoker over the mounts. Waiting for a turn is not part of a call's time. */
export function createRevoker({ revoke, clock, deadlineMs, parallel }: RevokerDeps): Revoker {
  const turns = createSemaphore(parallel);
  const tooSlow = (): StewardError =>
    new StewardError("deadline", `the backend did not revoke it within ${deadlineMs / 1000} s`, {
      remedy: "check whether the platform can be reached",
    });
  const one = async (lease: StoredLease, signal: AbortSignal): Promise<Outcome> => {
    using _turn = await turns.acquire();
    try {
      // A backend that does not heed its signal is left behind.
      await withDeadline({ clock, timeoutMs: deadlineMs, signal, reason: tooSlow }, (ending) =>
        revoke(leaseToRevoke(lease.row), ending),
      );
      return { ...lease, result: "revoked" };
    } catch (thrown) {
      if (signal.aborted) return { ...lease, result: "stopped" };
      return {
        ...lease,
        result: "failed",
        error: withoutSecrets(toStewardError(thrown), lease.row),
      };
    }
  };
  return (batch, signal) => Promise.all(batch.map((lease) => one(lease, signal)));
}

/** The text of a failure, without secrets, to store and show. */
export function failureText(error: StewardError): string {
  return (error.remedy === undefined ? error.message : `${error.message} (${error.remedy})`).slice(
    0,
    MAX_FAILURE_LENGTH,
  );
}

// A platform may echo what it was sent; every text of the answer that was leased counts as a secret
// here.
function withoutSecrets(error: StewardError, row: LeaseRow): StewardError {
  const secrets = textsOf(JSON.parse(row.dataJson)).filter(
    (text) => text.length >= MIN_SECRET_LENGTH && error.message.includes(text),
  );
  if (secrets.length === 0) return error;
  const message = secrets.reduce(
    (text, secret) => text.replaceAll(secret, "[secret]"),
    error.message,
  );
  return new StewardError(error.code, message, {
    ...(error.rule === undefined ? {} : { rule: error.rule }),
    ...(error.remedy === undefined ? {} : { remedy: error.remedy }),
  });
}

function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
