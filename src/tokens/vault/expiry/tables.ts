/** Tables of the expiry clock. */
import {
  LeaseClockRowSchema,
  type LeaseClockRow,
} from "../../../gen/steward/state/v1/tokens_leases_pb.ts";
import { stringKey } from "../../../kernel/state/keys.ts";
import { defineTable } from "../../../kernel/state/table.ts";
import type { AnyTable, Table } from "../../../kernel/state/types.ts";
import { protobufCodec } from "../../../kernel/state/values.ts";

/** The mark of the expiry clock, one row under an empty name. */
export const expiryMark: Table<string, LeaseClockRow> = defineTable({
  name: "token_clock",
  key: stringKey,
  value: protobufCodec(LeaseClockRowSchema),
  limit: { rows: 1 },
  sealed: true,
});

/**
 * The mark of earlier versions, which had one for leases alone. Read, and removed with the first
 * mark that is written.
 */
export const earlierLeaseMark: Table<string, LeaseClockRow> = defineTable({
  name: "lease_clock",
  key: stringKey,
  value: protobufCodec(LeaseClockRowSchema),
  limit: { rows: 1 },
});

export const expiryTables: readonly AnyTable[] = [
  expiryMark,
  earlierLeaseMark,
] as readonly unknown[] as readonly AnyTable[];
