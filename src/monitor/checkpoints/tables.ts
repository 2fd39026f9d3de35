/** LMDB tables of the monitor's checkpoints, shared by the service, backups and checks. */
import {
  MonitorEvidenceRowSchema,
  MonitorMarkRowSchema,
  MonitorSeenRowSchema,
} from "../../gen/steward/state/v1/monitor_pb.ts";
import type {
  MonitorEvidenceRow,
  MonitorMarkRow,
  MonitorSeenRow,
} from "../../gen/steward/state/v1/monitor_pb.ts";
import { tupleKey } from "../../kernel/state/keys.ts";
import { defineTable } from "../../kernel/state/table.ts";
import type { AnyTable, EnvSpec, Table } from "../../kernel/state/types.ts";
import { protobufCodec } from "../../kernel/state/values.ts";

const MAX_ROWS = 1_000_000;
const GIB = 2 ** 30;
/** Schema version. */
const SCHEMA = 1;

/** Window positions by network and collector. */
export const marks: Table<readonly [network: string, name: string], MonitorMarkRow> = defineTable({
  name: "marks",
  key: tupleKey<readonly [string, string]>(),
  value: protobufCodec(MonitorMarkRowSchema),
  limit: { rows: 100_000 },
});

/** Key of one stored part of a batch; ordered by expiry. */
export type SeenKey = readonly [
  network: string,
  name: string,
  untilMs: number,
  batch: number,
  part: number,
];

/** Digests that must not count twice. */
export const seen: Table<SeenKey, MonitorSeenRow> = defineTable({
  name: "seen",
  key: tupleKey<SeenKey>(),
  value: protobufCodec(MonitorSeenRowSchema),
  limit: { rows: MAX_ROWS },
});

/** Small documents by network and key. */
export const evidence: Table<readonly [network: string, key: string], MonitorEvidenceRow> =
  defineTable({
    name: "evidence",
    key: tupleKey<readonly [string, string]>(),
    value: protobufCodec(MonitorEvidenceRowSchema),
    limit: { rows: MAX_ROWS },
  });

/** With an explicit path the environment is named after its file. */
export const checkpointStore: Omit<EnvSpec, "directory"> = {
  name: "checkpoints",
  schema: SCHEMA,
  derived: false,
  maxBytes: 4 * GIB,
  tables: [marks, seen, evidence] as readonly unknown[] as readonly AnyTable[],
};

export const monitorStores: readonly Omit<EnvSpec, "directory">[] = [checkpointStore];
