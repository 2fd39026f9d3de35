/**
 * The `auth` member of an answer: a token that was just made or renewed, in the order of keys that
 * clients know.
 */
import type { IssuedAuth } from "../types.ts";

/** The one place where a token's id is written into an answer. */
export function authBody({ id, entry, ttlMs }: IssuedAuth): Record<string, unknown> {
  return {
    client_token: id?.use((value) => value) ?? "",
    accessor: entry.accessor,
    policies: entry.policies,
    token_policies: entry.policies,
    metadata: entry.meta ?? null,
    lease_duration: Math.round(ttlMs / 1000),
    renewable: entry.renewable,
    entity_id: entry.entityId,
    token_type: entry.type,
    orphan: entry.parent === undefined,
    mfa_requirement: null,
    num_uses: Math.max(0, entry.numUses),
  };
}
