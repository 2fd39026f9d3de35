/** What a store says about its key shares. Not sealed, since it is needed to unseal. */
import { stringKey } from "../../../kernel/state/keys.ts";
import { defineTable } from "../../../kernel/state/table.ts";
import type { AnyTable, Table } from "../../../kernel/state/types.ts";
import { bytesCodec } from "../../../kernel/state/values.ts";

/** JSON, one row. */
export const sealRow: Table<string, Uint8Array> = defineTable({
  name: "vault_seal",
  key: stringKey,
  value: bytesCodec,
  limit: { rows: 1 },
});

export const sealTables: readonly AnyTable[] = [
  sealRow,
] as readonly unknown[] as readonly AnyTable[];
