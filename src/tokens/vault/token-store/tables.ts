/**
 * What tokens lie in. Values are sealed; keys are HMACs under a salt that is sealed itself, so that
 * neither a token nor an accessor can be found in the file, or be tried against it.
 */
import {
  TokenRoleRowSchema,
  TokenRowSchema,
  TokenSecretsRowSchema,
  type TokenRoleRow,
  type TokenRow,
  type TokenSecretsRow,
} from "../../../gen/steward/state/v1/tokens_auth_pb.ts";
import { dueTables } from "../../../kernel/state/due.ts";
import { stringKey, tupleKey } from "../../../kernel/state/keys.ts";
import { defineTable } from "../../../kernel/state/table.ts";
import type { AnyTable, Table, ValueCodec } from "../../../kernel/state/types.ts";
import { protobufCodec } from "../../../kernel/state/values.ts";

/** The most service tokens there may be at once. */
const TOKEN_LIMIT = 1_000_000;
/** Name and size of the timers, as `createDue` takes them. */
export const TOKEN_TIMERS: { readonly name: string; readonly rows: number } = {
  name: "tokens",
  rows: TOKEN_LIMIT,
};

const flagCodec: ValueCodec<true> = { write: () => new Uint8Array(0), read: () => true };

/** Salt and key, one row under an empty name. */
export const tokenSecrets: Table<string, TokenSecretsRow> = defineTable({
  name: "token_secrets",
  key: stringKey,
  value: protobufCodec(TokenSecretsRowSchema),
  limit: { rows: 1 },
  sealed: true,
});

/** Service tokens by the HMAC of their id; found by that of their accessor. */
export const tokenRows: Table<string, TokenRow> = defineTable({
  name: "token_rows",
  key: stringKey,
  value: protobufCodec(TokenRowSchema),
  limit: { rows: TOKEN_LIMIT },
  sealed: true,
  indexes: [{ name: "accessor", unique: true, of: (row) => [[row.accessorKey]] }],
});

/**
 * Which token was made by which: the parent's key, the child's key. A table, so that many children
 * are walked in pieces.
 */
export const tokenChildren: Table<readonly [parent: string, child: string], true> = defineTable({
  name: "token_children",
  key: tupleKey<readonly [string, string]>(),
  value: flagCodec,
  limit: { rows: TOKEN_LIMIT },
  sealed: true,
});

/** Rules that tokens are made by, by name; see `auth/token/roles`. */
export const tokenRoles: Table<string, TokenRoleRow> = defineTable({
  name: "token_roles",
  key: stringKey,
  value: protobufCodec(TokenRoleRowSchema),
  limit: { rows: 10_000 },
  sealed: true,
});

/** All of the above, timers included. */
export const tokenTables: readonly AnyTable[] = [
  ...([
    tokenSecrets,
    tokenRows,
    tokenChildren,
    tokenRoles,
  ] as readonly unknown[] as readonly AnyTable[]),
  ...dueTables(TOKEN_TIMERS.name, TOKEN_TIMERS.rows),
];
