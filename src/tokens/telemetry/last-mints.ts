/**
 * The newest mints, from memory since the start: whether the platform gives tokens, and when one
 * was refused.
 */
import type { Clock } from "../../kernel/base/clock.ts";
import type { Outcome, TokensObserver } from "./observer.ts";

/** Outcomes that a caller causes; the others are of the platform or of this process. */
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

/**
 * Times in milliseconds since 1970; undefined where nothing of the kind happened since the start.
 */
export interface LastMints {
  /** The newest mint failed although its caller was allowed it. */
  readonly failing: { readonly atMs: number; readonly outcome: Outcome } | undefined;
  readonly refusedAtMs: number | undefined;
}

/** An observer that passes everything on and remembers mints. */
export function watchMints(
  clock: Pick<Clock, "now">,
  inner: TokensObserver,
): { readonly observe: TokensObserver; readonly last: () => LastMints } {
  let last: LastMints = { failing: undefined, refusedAtMs: undefined };
  const mint: TokensObserver["mint"] = (seen) => {
    const atMs = clock.now();
    if (seen.outcome === "ok") last = { ...last, failing: undefined };
    else if (OF_CALLER.has(seen.outcome)) last = { ...last, refusedAtMs: atMs };
    else last = { ...last, failing: { atMs, outcome: seen.outcome } };
    inner.mint(seen);
  };
  return { observe: { ...inner, mint }, last: () => last };
}
