/**
 * Something that is dear to make and may be a moment old: made once for all who ask at a time, and
 * again before it is too old.
 */
import type { Clock } from "../../kernel/base/clock.ts";

/** Ages since the making began. */
export interface RefreshRule {
  /** From this age on it is made anew, while those who ask still get the old one. */
  readonly renewMs: number;
  /** From this age on those who ask wait for the new one. */
  readonly expireMs: number;
}

/** What is kept. */
export interface Refreshed<T> {
  /** Rejects with what making it rejected with. */
  get(): Promise<T>;
}

/** `make` gets what there was before, if anything. */
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
      // Who asks after it has expired hears of the failure; nobody waits for this one.
      if (ageMs >= renewMs) renew().catch(() => undefined);
      return kept.value;
    },
  };
}
