/**
 * Salts of the audit devices. They are sealed, so that values cannot be guessed from the records
 * alone.
 */
import { stringKey } from "../../../kernel/state/keys.ts";
import { defineTable } from "../../../kernel/state/table.ts";
import type { AnyTable, Table } from "../../../kernel/state/types.ts";
import { bytesCodec } from "../../../kernel/state/values.ts";

/** The most devices there may ever have been. */
const SALT_LIMIT = 1_000;

/** 32 random bytes by the device's `file_path` as it is configured. */
export const auditSalts: Table<string, Uint8Array> = defineTable({
  name: "audit_salts",
  key: stringKey,
  value: bytesCodec,
  limit: { rows: SALT_LIMIT },
  sealed: true,
});

export const auditTables: readonly AnyTable[] = [
  auditSalts,
] as readonly unknown[] as readonly AnyTable[];
