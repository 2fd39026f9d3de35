/** LMDB table of the counts that pages compare with yesterday's. */
import { CountsDayRowSchema, type CountsDayRow } from "../../gen/steward/state/v1/counts_pb.ts";
import { numberKey } from "../../kernel/state/keys.ts";
import { defineTable } from "../../kernel/state/table.ts";
import type { AnyTable, EnvSpec, Table } from "../../kernel/state/types.ts";
import { protobufCodec } from "../../kernel/state/values.ts";

const MAX_DAYS = 100;
const MAX_BYTES = 64 * 2 ** 20;

/** By the beginning of the day in UTC, milliseconds since 1970. */
export const countDays: Table<number, CountsDayRow> = defineTable({
  name: "days",
  key: numberKey,
  value: protobufCodec(CountsDayRowSchema),
  limit: { rows: MAX_DAYS },
});

export const historyStore: Omit<EnvSpec, "directory"> = {
  name: "history",
  schema: 1,
  derived: false,
  maxBytes: MAX_BYTES,
  tables: [countDays] as readonly unknown[] as readonly AnyTable[],
};
