/** Tables of the policies. Apart from their rules: backups and checks need them alone. */
import { PolicyRowSchema, type PolicyRow } from "../../../gen/steward/state/v1/tokens_auth_pb.ts";
import { stringKey } from "../../../kernel/state/keys.ts";
import { defineTable } from "../../../kernel/state/table.ts";
import type { AnyTable, Table } from "../../../kernel/state/types.ts";
import { protobufCodec } from "../../../kernel/state/values.ts";

/** Stored policies by name. */
export const policyRows: Table<string, PolicyRow> = defineTable({
  name: "policies",
  key: stringKey,
  value: protobufCodec(PolicyRowSchema),
  limit: { rows: 10_000 },
  sealed: true,
});
export const policyTables: readonly AnyTable[] = [
  policyRows,
] as readonly unknown[] as readonly AnyTable[];
