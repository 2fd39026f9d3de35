/**
 * Cache of a value that is expensive to compute: concurrent callers share one computation, and it
 * is renewed before it is too old.
 */
import type { Clock } from "../../../kernel/base/clock.ts";

/** Ages count from the start of the computation. */
export interface RefreshRule {
  /** From this age on it is recomputed in the background, while callers get the old value. */
  readonly renewMs: number;
  /** From this age on callers wait for the new value. */
  readonly expireMs: number;
}

export interface Refreshed<T> {
  /** Rejects with the computation's error. */
  get(): Promise<T>;
}

/** `make` receives the previous value, if any. */
export function createRefreshed<T>(
  clock: Pick<Clock, "monotonic">,
  { renewMs, expireMs }: RefreshRule,
  make: (before: T | undefined) => Promise<T>,
): Refreshed<T> {
  let kept: { readonly value: T; readonly beganMs: number } | undefined;
  let making: Promise<T> | undefined;
  const renew = (): Promise<T> => {
    const beganMs = clock.monotonic();
    making ??= make(kept?.value)
      .then((value) => {
        kept = { value, beganMs };
        return value;
      })
      .finally(() => (making = undefined));
    return making;
  };
  return {
    async get() {
      const ageMs =
        kept === undefined ? Number.POSITIVE_INFINITY : clock.monotonic() - kept.beganMs;
      if (kept === undefined || ageMs >= expireMs) return renew();
      // Callers after expiry see the failure; nobody waits for this renewal.
      if (ageMs >= renewMs) renew().catch(() => undefined);
      return kept.value;
    },
  };
}
