/** LMDB tables of the ingress log. */
import {
  IngressEntryRowSchema,
  type IngressEntryRow,
} from "../../gen/steward/state/v1/ingress_pb.ts";
import { numberKey, tupleKey } from "../../kernel/state/keys.ts";
import { defineTable } from "../../kernel/state/table.ts";
import type { AnyTable, EnvSpec, Table } from "../../kernel/state/types.ts";
import { bytesCodec, protobufCodec } from "../../kernel/state/values.ts";

const MIB = 2 ** 20;
const MAX_ENTRIES = 1_000_000;
/** Schema version. */
const SCHEMA = 1;

/** Accepted bodies in the order of acceptance. A body without a row here was never accepted. */
export const entries: Table<number, IngressEntryRow> = defineTable({
  name: "entries",
  key: numberKey,
  value: protobufCodec(IngressEntryRowSchema),
  limit: { rows: MAX_ENTRIES },
});

/** Parts of bodies, each within the size of one change. */
export const bodies: Table<readonly [body: number, part: number], Uint8Array> = defineTable({
  name: "bodies",
  key: tupleKey<readonly [number, number]>(),
  value: bytesCodec,
  limit: { rows: 2 * MAX_ENTRIES },
});

/** The file's name without its extension. */
export const INGRESS_STORE = "ingress";

/**
 * The file may become twice as large as the bodies in it: freed pages are used again only in runs
 * that are long enough, and not while a reader or a backup sees them.
 */
export function ingressStore(maxBytes: number): Omit<EnvSpec, "directory"> {
  return {
    name: INGRESS_STORE,
    schema: SCHEMA,
    derived: false,
    maxBytes: 2 * maxBytes + 64 * MIB,
    tables: [entries, bodies] as readonly unknown[] as readonly AnyTable[],
  };
}
