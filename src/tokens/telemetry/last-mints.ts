/** The latest mints since the start, from memory: whether the platform issues tokens. */
import type { Clock } from "../../kernel/base/clock.ts";
import { TOO_MANY_ATTEMPTS } from "../vault/core/attempts.ts";
import type { Outcome, TokensObserver } from "./observer.ts";

/**
 * Outcomes caused by the caller; others by the platform or this process. `exhausted` is the
 * platform's rate limit, or the caller's failed attempts.
 */
const OF_CALLER: ReadonlySet<Outcome> = new Set([
  "invalid",
  "unauthenticated",
  "denied",
  "not_found",
  "conflict",
  "too_large",
  "unsupported",
  "cancelled",
]);

/** Milliseconds since 1970; undefined if it has not happened since the start. */
export interface LastMints {
  /** Set while the latest permitted mint failed. */
  readonly failing: { readonly atMs: number; readonly outcome: Outcome } | undefined;
  readonly refusedAtMs: number | undefined;
}

/** Passes events on and remembers mints. */
export function watchMints(
  clock: Pick<Clock, "now">,
  inner: TokensObserver,
): { readonly observe: TokensObserver; readonly last: () => LastMints } {
  let last: LastMints = { failing: undefined, refusedAtMs: undefined };
  const mint: TokensObserver["mint"] = (seen) => {
    const atMs = clock.now();
    if (seen.outcome === "ok") last = { ...last, failing: undefined };
    else if (OF_CALLER.has(seen.outcome) || seen.refused?.error.rule === TOO_MANY_ATTEMPTS)
      last = { ...last, refusedAtMs: atMs };
    else last = { ...last, failing: { atMs, outcome: seen.outcome } };
    inner.mint(seen);
  };
  return { observe: { ...inner, mint }, last: () => last };
}
