/**
 * Paths that need key shares in place of a token. A request is tried out without its effect, as
 * with every proof: a failing one is limited by address and collapsed in the audit.
 */
import type { Fields, Path, PathRequest } from "../../logical/types.ts";

export interface ShareChecks {
  /** Throws what a write with these fields would throw; changes nothing. */
  readonly write: (fields: Fields) => unknown;
  /** The same for the other operations; absent when they cannot fail. */
  readonly others?: () => unknown;
}

/** Makes the path at `sys/NAME` one without a token; all its failures are attempts on one subject. */
export function openByShares(
  name: string,
  { write, others }: ShareChecks,
): Pick<Path, "unauthenticated" | "proof"> {
  return {
    unauthenticated: true,
    proof: {
      subject: () => `sys/${name}`,
      verify: async ({ operation, fields }: PathRequest) =>
        operation === "create" || operation === "update" ? write(fields) : others?.(),
    },
  };
}
