/**
 * Revokes a token, and decides whether it has ended. The platform's servers learn of a new token up
 * to five seconds after its mint; until then they may answer 401 to it as to one that has ended.
 */
import { backoffMs } from "../../../kernel/async/backoff.ts";
import { delay } from "../../../kernel/base/clock.ts";
import type { Base } from "../base-url.ts";
import { isMissing } from "./failures.ts";
import type { HttpLost, HttpReply } from "./http.ts";
import { sendRevocation, type PlatformDeps } from "./platform.ts";

/** All servers know a token of this age: five seconds, and half of one for a clock being slewed. */
const KNOWN_AT_AGE_MS = 5_500;

/** Limit of all waits together, whatever the age: the wall clock may have been set back. */
const MAX_WAIT_MS = 5_000;

const WAIT = { firstMs: 1_000, maxMs: MAX_WAIT_MS } as const;

const CANCELLED: HttpLost = { lost: "cancelled", sent: true, reason: "CANCELLED" };

interface TokenToRevoke {
  readonly token: string;
  /**
   * Milliseconds since the answer to its mint; negative after a clock was set back. Undefined when
   * unknown: then the first 401 counts.
   */
  readonly ageMs: number | undefined;
  readonly signal?: AbortSignal;
}

interface Revocation {
  /** False: the token may be valid, and `outcome` says why. */
  readonly over: boolean;
  readonly outcome: HttpReply | HttpLost;
}

/**
 * Revokes a token, authenticated by itself. A 401 to a token that may not be known yet is asked
 * about again, for at most five seconds. Never rejects.
 */
export async function revokeToken(
  deps: PlatformDeps,
  base: Base,
  { token, ageMs = KNOWN_AT_AGE_MS, signal }: TokenToRevoke,
): Promise<Revocation> {
  const { clock } = deps;
  const knownAtMs = clock.monotonic() + Math.min(MAX_WAIT_MS, KNOWN_AT_AGE_MS - ageMs);
  for (let refusals = 1; ; refusals += 1) {
    const sentAtMs = clock.monotonic();
    const outcome = await sendRevocation(deps, base, token, signal);
    if (outcome.lost !== undefined || outcome.status !== 401)
      return { over: hasEnded(outcome), outcome };
    // What counts is when it was sent: a server may have looked at it at once.
    if (sentAtMs >= knownAtMs) return { over: true, outcome };
    const waitMs = Math.min(backoffMs(refusals, WAIT), knownAtMs - clock.monotonic());
    const waited = await delay(clock, Math.max(0, waitMs), signal).then(
      () => true,
      () => false,
    );
    if (!waited) return { over: false, outcome: CANCELLED };
  }
}

function hasEnded(outcome: HttpReply | HttpLost): boolean {
  if (outcome.lost !== undefined) return false;
  return (outcome.status >= 200 && outcome.status < 300) || isMissing(outcome);
}
