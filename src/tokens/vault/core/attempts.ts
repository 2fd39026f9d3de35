/**
 * Rate-limits failed attempts per subject (role, token, path of key shares) and address. A failure
 * counts only after the proof was found wrong, so a correct one always passes; beyond the limit the
 * response is 429 instead of the reason. All counters are in memory and bounded.
 */
import { hash } from "node:crypto";
import type { Clock } from "../../../kernel/base/clock.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import type { Log } from "../../../kernel/base/log.ts";
import { isLoopback } from "../../../kernel/config/values/address.ts";
import { networkOf } from "./networks.ts";

/** The rule of the error in place of the reason, once there were too many. */
export const TOO_MANY_ATTEMPTS = "attempts";

const WINDOW_MS = 60_000;
/** Failures per subject and address in a window. */
const MAX_FAILURES = 50;
/** For loopback, where local programs and an untrusted proxy's clients share an address. */
const MAX_FAILURES_LOOPBACK = 1_000;
/** Subjects counted separately per address; the rest share one counter. */
const MAX_SUBJECTS = 64;
/** Failures of the shared counter in a window. */
const MAX_OTHER_FAILURES = 1_000;
/** Subjects counted separately over all addresses. */
const MAX_ALL_SUBJECTS = 50_000;
/** Addresses counted; the oldest are evicted. */
const MAX_ADDRESSES = 10_000;

/** Unknown addresses are not counted. */
export interface Attempts {
  /**
   * Records a failed attempt on `subject` (a role id, a token, a path). Returns the error to respond
   * with instead, including the time to wait, once there were too many.
   */
  failed(address: string | undefined, subject: string): StewardError | undefined;
}

interface Window {
  readonly endsAtMs: number;
  readonly subjects: Map<string, number>;
  others: number;
  logged: boolean;
}

export function createAttempts({
  clock,
  log,
}: {
  readonly clock: Clock;
  readonly log: Log;
}): Attempts {
  /** Oldest first. */
  const windows = new Map<string, Window>();
  let subjects = 0;

  function remove(network: string): void {
    subjects -= windows.get(network)?.subjects.size ?? 0;
    windows.delete(network);
  }

  function windowOf(network: string): Window {
    const found = windows.get(network);
    if (found !== undefined && clock.monotonic() < found.endsAtMs) return found;
    remove(network);
    const [oldest] = windows.keys();
    if (windows.size >= MAX_ADDRESSES && oldest !== undefined) remove(oldest);
    const window: Window = {
      endsAtMs: clock.monotonic() + WINDOW_MS,
      subjects: new Map(),
      others: 0,
      logged: false,
    };
    windows.set(network, window);
    return window;
  }

  /** Whether this failure exceeds the limit. */
  function count(window: Window, subject: string, limit: number): boolean {
    // Subjects are secret or chosen by the caller: only fixed-size digests are kept.
    const key = hash("sha256", subject, "base64").slice(0, 22);
    const known = window.subjects.get(key);
    if (
      known === undefined &&
      (window.subjects.size >= MAX_SUBJECTS || subjects >= MAX_ALL_SUBJECTS)
    ) {
      window.others += 1;
      return window.others > MAX_OTHER_FAILURES;
    }
    if (known === undefined) subjects += 1;
    const failures = (known ?? 0) + 1;
    window.subjects.set(key, failures);
    return failures > limit;
  }

  return {
    failed(address, subject) {
      const network = networkOf(address);
      if (network === undefined) return undefined;
      const window = windowOf(network);
      const limit = isLoopback(network) ? MAX_FAILURES_LOOPBACK : MAX_FAILURES;
      if (!count(window, subject, limit)) return undefined;
      if (!window.logged)
        log.warn(
          "failed attempts on one role, token or path exceed the limit; further ones are answered 429",
          { address: network, limit },
        );
      window.logged = true;
      const retryAfterMs = Math.max(1, window.endsAtMs - clock.monotonic());
      return new StewardError(
        "exhausted",
        `too many failed attempts from ${network}; try again in ${Math.ceil(retryAfterMs / 1_000)} s`,
        { rule: TOO_MANY_ATTEMPTS, retryAfterMs },
      );
    },
  };
}
