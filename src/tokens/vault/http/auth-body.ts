/** The `auth` member of a response for a created or renewed token, with keys in Vault's order. */
import type { IssuedAuth } from "../types.ts";

/** The only place that writes a token id into a response. */
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
