/** The last refused mints since the start, from memory, with their causes. */
import type { Clock } from "../../kernel/base/clock.ts";
import type { Code } from "../../kernel/base/errors.ts";
import type { TokensObserver } from "./observer.ts";

/** The oldest make way. */
const MAX_REFUSALS = 50;
/** Characters of a path, a message and a remedy: callers choose the first. */
const MAX_TEXT = 500;
/** Head that Vault's clients expect of a single error. */
const ALONE = /^1 error occurred:\s+\* /;

export interface RefusedMint {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly path: string;
  readonly code: Code;
  /** As its caller was told. */
  readonly message: string;
  /** Empty without one. */
  readonly remedy: string;
}

/** Passes events on and remembers refusals. */
export function watchRefusals(
  clock: Pick<Clock, "now">,
  inner: TokensObserver,
): {
  readonly observe: TokensObserver;
  /** Newest first. */
  readonly last: () => readonly RefusedMint[];
} {
  const refusals: RefusedMint[] = [];
  const mint: TokensObserver["mint"] = (seen) => {
    inner.mint(seen);
    if (seen.refused === undefined) return;
    const { path, error } = seen.refused;
    refusals.unshift({
      atMs: clock.now(),
      path: path.slice(0, MAX_TEXT),
      code: error.code,
      message: error.message.replace(ALONE, "").trim().slice(0, MAX_TEXT),
      remedy: (error.remedy ?? "").slice(0, MAX_TEXT),
    });
    refusals.length = Math.min(refusals.length, MAX_REFUSALS);
  };
  return { observe: { ...inner, mint }, last: () => [...refusals] };
}
