/**
 * What every auth backend decides about the tokens it makes: their policies, their type, what is
 * left of them.
 */
import { logicalError } from "../../logical/occurred.ts";
import type { Clock } from "../../../kernel/base/clock.ts";
import { DEFAULT_POLICY, ROOT_POLICY, WRAPPING_POLICY } from "../policies/built-in.ts";
import type { IssuedAuth, CreatedToken, Policies, TokenEntry, TokenType } from "../types.ts";

/** Policies of one token. */
const MAX_POLICIES = 256;

/** Lower case, sorted, each once; `root` makes all others void. */
export function sanitized(policies: readonly string[], addDefault: boolean): readonly string[] {
  const names = new Set(
    policies.map((name) => name.trim().toLowerCase()).filter((name) => name !== ""),
  );
  if (names.has(ROOT_POLICY)) return [ROOT_POLICY];
  if (addDefault) names.add(DEFAULT_POLICY);
  return [...names].toSorted();
}

/**
 * Throws `invalid` for policies that no token may have; gives warnings about those that do not
 * exist.
 */
export function checkPolicies(policies: Policies, names: readonly string[]): readonly string[] {
  if (names.length > MAX_POLICIES)
    throw logicalError(`a token has at most ${MAX_POLICIES} policies`, {
      field: "policies",
      rule: "count",
    });
  if (names.includes(WRAPPING_POLICY))
    throw logicalError(`cannot assign policy ${JSON.stringify(WRAPPING_POLICY)}`, {
      field: "policies",
      rule: "unassignable",
    });
  return names
    .filter((name) => policies.get(name) === undefined)
    .map((name) => `Policy ${JSON.stringify(name)} does not exist`);
}

/** How roles say the type of their tokens. */
export const TOKEN_TYPES: readonly string[] = [
  "default-service",
  "default-batch",
  "default",
  "service",
  "batch",
];

/** The type of a token from what its role and its maker say. Throws `invalid`. */
export function tokenTypeOf(role: string | undefined, requested: string | undefined): TokenType {
  if (
    requested !== undefined &&
    requested !== "" &&
    requested !== "service" &&
    requested !== "batch"
  )
    throw logicalError(
      `invalid 'type' value ${JSON.stringify(requested.slice(0, 40))}; known are service and batch`,
      { field: "type", rule: "type" },
    );
  if (role === "service" || role === "batch") return role;
  if (requested === "service" || requested === "batch") return requested;
  return role === "default-batch" ? "batch" : "service";
}

/** What a batch token cannot have. Throws `invalid` naming it. */
export function checkBatch(
  type: TokenType,
  wanted: {
    readonly explicitMaxTtlMs: number;
    readonly numUses: number;
    readonly periodMs: number;
  },
): void {
  if (type !== "batch") return;
  const { explicitMaxTtlMs, numUses, periodMs } = wanted;
  const bad =
    explicitMaxTtlMs > 0
      ? "explicit_max_ttl"
      : numUses > 0
        ? "num_uses"
        : periodMs > 0
          ? "period"
          : undefined;
  if (bad !== undefined)
    throw logicalError(`batch tokens cannot have "${bad}" set`, { field: bad, rule: "batch" });
}

/** What is left of a token, whole seconds; 0 for ever. */
export function ttlLeft(entry: TokenEntry, clock: Clock): number {
  return entry.expiresAtMs === undefined
    ? 0
    : Math.max(0, Math.round((entry.expiresAtMs - clock.now()) / 1_000) * 1_000);
}

/** A token that was just made, as an answer. */
export function grantOf({ id, entry }: CreatedToken, clock: Clock): IssuedAuth {
  return { id, entry, ttlMs: ttlLeft(entry, clock), made: true };
}
