/**
 * Who this secrets manager is, and whether its first token was shown: one sealed row, made when the
 * store is unsealed for the first time.
 */
import type { Ids } from "../../../kernel/base/ids.ts";
import type { Env } from "../../../kernel/state/types.ts";
import { parseExact } from "../../logical/json.ts";
import { identityRow } from "./tables.ts";

export interface VaultIdentity {
  /** A UUID. */
  readonly clusterId: string;
  readonly clusterName: string;
  /** The first root token exists. */
  readonly rooted: boolean;
}

/** Reads the row, making it when there is none. Throws `sealed`. */
export async function openIdentity(env: Env, ids: Ids): Promise<VaultIdentity> {
  const stored = env.read((snapshot) => snapshot.get(identityRow, "vault"));
  if (stored !== undefined) return parseExact(stored) as VaultIdentity;
  const clusterId = ids.uuid();
  const identity: VaultIdentity = {
    clusterId,
    clusterName: `steward-${clusterId.slice(0, 8)}`,
    rooted: false,
  };
  await env.write((tx) => tx.put(identityRow, "vault", identityBytes(identity)));
  return identity;
}

/** The stored form. */
export function identityBytes(identity: VaultIdentity): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(identity));
}
