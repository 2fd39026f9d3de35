/** From stored tokens to entries and back. */
import { create } from "@bufbuild/protobuf";
import {
  TokenMetaSchema,
  TokenRowSchema,
  type TokenRow,
} from "../../../gen/steward/state/v1/tokens_auth_pb.ts";
import type { ExpiryClock } from "../expiry/expiry-clock.ts";
import type { TokenEntry, TokenSpec } from "../types.ts";
import { tokenRows } from "./tables.ts";

/** A new token's row; its times are those of the store's clock. */
export function rowOf(
  spec: TokenSpec,
  made: { readonly accessor: string; readonly accessorKey: string; readonly nowMs: number },
): TokenRow {
  const { accessor, accessorKey, nowMs } = made;
  const row = create(TokenRowSchema, {
    accessor,
    accessorKey,
    policies: [...spec.policies],
    path: spec.path,
    displayName: spec.displayName,
    numUses: spec.numUses,
    createdAtMs: nowMs,
    creationTtlMs: spec.ttlMs,
    explicitMaxTtlMs: spec.explicitMaxTtlMs,
    maxTtlMs: spec.maxTtlMs ?? 0,
    periodMs: spec.periodMs,
    renewable: spec.renewable,
    boundCidrs: [...(spec.boundCidrs ?? [])],
    issuer: spec.issuer ?? "",
  });
  if (spec.meta !== undefined) row.meta = create(TokenMetaSchema, { values: { ...spec.meta } });
  if (spec.parent !== undefined) row.parent = spec.parent;
  if (spec.role !== undefined) row.role = spec.role;
  if (spec.ttlMs > 0) row.expiresAtMs = nowMs + spec.ttlMs;
  return row;
}

/** Bytes that a row takes, without its keys. */
export function rowBytes(row: TokenRow): number {
  return tokenRows.value.write(row).length;
}

/** Converts a row, in times of the store's clock. */
export function entryOf(key: string, row: TokenRow): TokenEntry {
  const {
    accessor,
    policies,
    path,
    displayName,
    meta,
    entityId,
    numUses,
    parent,
    createdAtMs,
    creationTtlMs,
    expiresAtMs,
    explicitMaxTtlMs,
    periodMs,
    renewable,
    lastRenewalAtMs,
    role,
    boundCidrs,
  } = row;
  return {
    key,
    type: "service",
    accessor,
    policies,
    path,
    displayName,
    meta: meta?.values,
    entityId,
    numUses,
    parent,
    createdAtMs,
    creationTtlMs,
    expiresAtMs,
    explicitMaxTtlMs,
    periodMs,
    renewable,
    lastRenewalAtMs,
    role,
    boundCidrs,
  };
}

/**
 * Whether a stored token may be used. One that may not can be usable again, see
 * `ExpiryClock.isOver`.
 */
export function isLive(
  row: Pick<TokenRow, "ending" | "numUses" | "expiresAtMs" | "createdAtMs" | "lastRenewalAtMs">,
  clock: ExpiryClock,
): boolean {
  return (
    !row.ending &&
    row.numUses >= 0 &&
    !clock.isOver(row.expiresAtMs, row.lastRenewalAtMs ?? row.createdAtMs)
  );
}

/** Whether a stored token can never be used again and may be removed. */
export function isSpent(
  row: Pick<TokenRow, "ending" | "numUses" | "expiresAtMs">,
  expiryMs: number,
): boolean {
  return (
    row.ending || row.numUses < 0 || (row.expiresAtMs !== undefined && expiryMs >= row.expiresAtMs)
  );
}
