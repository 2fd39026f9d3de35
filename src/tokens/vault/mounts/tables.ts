/** The mounts and what their backends keep: everything sealed, keys in clear. */
import {
  MountRowSchema,
  VaultCorsRowSchema,
  WrappedRowSchema,
  type MountRow,
  type VaultCorsRow,
  type WrappedRow,
} from "../../../gen/steward/state/v1/tokens_mounts_pb.ts";
import { stringKey, tupleKey } from "../../../kernel/state/keys.ts";
import { defineTable } from "../../../kernel/state/table.ts";
import type { AnyTable, Table } from "../../../kernel/state/types.ts";
import { bytesCodec, protobufCodec } from "../../../kernel/state/values.ts";

/**
 * Of 8 GiB: tokens and leases always have room beside what tokens store at will. Room for
 * 100,000 wrapped tokens, 2,000 of the largest wrapped answers, or 16,000 of the largest values of
 * cubbyholes.
 */
const KEPT_BYTES = 2 ** 30;

/** Mounts by path; at most 1,000. */
export const mountRows: Table<string, MountRow> = defineTable({
  name: "mounts",
  key: stringKey,
  value: protobufCodec(MountRowSchema),
  limit: { rows: 1_000 },
  sealed: true,
});

/** What backends keep: by the mount's uuid and the backend's own key. */
export const storedValues: Table<readonly [uuid: string, key: string], Uint8Array> = defineTable({
  name: "storage",
  key: tupleKey<readonly [string, string]>(),
  value: bytesCodec,
  limit: { rows: 1_000_000 },
  sealed: true,
});

/** Tokens' own cupboards: by the token's key and the path in it. */
export const cubbyholes: Table<readonly [tokenKey: string, path: string], Uint8Array> = defineTable(
  {
    name: "cubbyholes",
    key: tupleKey<readonly [string, string]>(),
    value: bytesCodec,
    limit: { rows: 100_000, bytes: KEPT_BYTES },
    sealed: true,
  },
);

/** Wrapped answers by the key of their token. */
export const wrappedAnswers: Table<string, WrappedRow> = defineTable({
  name: "wrapped",
  key: stringKey,
  value: protobufCodec(WrappedRowSchema),
  limit: { rows: 100_000, bytes: KEPT_BYTES },
  sealed: true,
});

/** One row, under the empty name. */
export const corsRow: Table<string, VaultCorsRow> = defineTable({
  name: "vault_cors",
  key: stringKey,
  value: protobufCodec(VaultCorsRowSchema),
  limit: { rows: 1 },
  sealed: true,
});

/** Who the secrets manager is: JSON, one row. */
export const identityRow: Table<string, Uint8Array> = defineTable({
  name: "vault_identity",
  key: stringKey,
  value: bytesCodec,
  limit: { rows: 1 },
  sealed: true,
});

export const mountTables: readonly AnyTable[] = [
  mountRows,
  storedValues,
  cubbyholes,
  wrappedAnswers,
  corsRow,
  identityRow,
] as readonly unknown[] as readonly AnyTable[];
