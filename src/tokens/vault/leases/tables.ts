/**
 * What leases lie in. Whatever a lease holds is sealed; keys are request paths, row numbers and the
 * HMACs that tokens are known by, none of them secret. Rows are numbered in the order they come, so
 * that they fill their pages, and the small tables that lead to them are walked without opening one
 * of them.
 */
import { hash } from "node:crypto";
import {
  IntentRowSchema,
  OrphanRowSchema,
  PrefixSweepRowSchema,
} from "../../../gen/steward/state/v1/tokens_leases_pb.ts";
import type {
  IntentRow,
  LeaseRow,
  OrphanRow,
  PrefixSweepRow,
} from "../../../gen/steward/state/v1/tokens_leases_pb.ts";
import { dueTables } from "../../../kernel/state/due.ts";
import { numberKey, stringKey, tupleKey } from "../../../kernel/state/keys.ts";
import { defineTable } from "../../../kernel/state/table.ts";
import type { AnyTable, Table, ValueCodec } from "../../../kernel/state/types.ts";
import { protobufCodec } from "../../../kernel/state/values.ts";
import { leaseCodec } from "./lease-codec.ts";

/** The most leases there may be at once; a mint beyond them is refused before it happens. */
const LEASE_LIMIT = 1_000_000;
/**
 * Requests to minting paths that are under way, and what is left of those that went wrong within an
 * hour.
 */
const RECORD_LIMIT = 200_000;
/** Sweeps that wait: ended tokens and revoked prefixes. */
const SWEEP_LIMIT = 1_000_000;

/** Name and size of the timers, as `createDue` takes them. */
export const LEASE_TIMERS: { readonly name: string; readonly rows: number } = {
  name: "leases",
  rows: LEASE_LIMIT + RECORD_LIMIT + 2 * SWEEP_LIMIT,
};

const flagCodec: ValueCodec<true> = { write: () => new Uint8Array(0), read: () => true };
const numberCodec: ValueCodec<number> = {
  write(value) {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    return bytes;
  },
  read: (bytes) => new DataView(bytes.buffer, bytes.byteOffset, 8).getFloat64(0, true),
};

/** Leases by row number. */
export const leases: Table<number, LeaseRow> = defineTable({
  name: "leases",
  key: numberKey,
  value: leaseCodec,
  limit: { rows: LEASE_LIMIT },
  sealed: true,
});

/** Row numbers by lease id; its order is that of the tree of paths. */
export const leaseIds: Table<string, number> = defineTable({
  name: "lease_ids",
  key: stringKey,
  value: numberCodec,
  limit: { rows: LEASE_LIMIT },
});

/** The leases of a token: its id here (`tokenId`) and the row number. */
export const leaseTokens: Table<readonly [tokenId: string, seq: number], true> = defineTable({
  name: "lease_tokens",
  key: tupleKey<readonly [string, number]>(),
  value: flagCodec,
  limit: { rows: LEASE_LIMIT },
});

/** The leases of a token that several may hold, by what the token is called among them. */
export const leaseShares: Table<readonly [share: string, seq: number], true> = defineTable({
  name: "lease_shares",
  key: tupleKey<readonly [string, number]>(),
  value: flagCodec,
  limit: { rows: LEASE_LIMIT },
});

/** Row numbers of leases being revoked, or whose revocation failed. */
export const endingLeases: Table<number, true> = defineTable({
  name: "lease_ending",
  key: numberKey,
  value: flagCodec,
  limit: { rows: LEASE_LIMIT },
});

/** Row numbers of leases that nothing tries to revoke any more. */
export const irrevocableLeases: Table<number, true> = defineTable({
  name: "lease_irrevocable",
  key: numberKey,
  value: flagCodec,
  limit: { rows: LEASE_LIMIT },
});

/** Requests that may make something, by their id. */
export const intents: Table<string, IntentRow> = defineTable({
  name: "lease_intents",
  key: stringKey,
  value: protobufCodec(IntentRowSchema),
  limit: { rows: RECORD_LIMIT },
  sealed: true,
});

/** What may be out there unknown, by the request's id. */
export const orphans: Table<string, OrphanRow> = defineTable({
  name: "lease_orphans",
  key: stringKey,
  value: protobufCodec(OrphanRowSchema),
  limit: { rows: RECORD_LIMIT },
  sealed: true,
});

/**
 * Tokens that ended lately by their id here, with the time: what is minted for them by a request
 * that was under way ends at once.
 */
export const endedTokens: Table<string, number> = defineTable({
  name: "lease_ended_tokens",
  key: stringKey,
  value: numberCodec,
  limit: { rows: SWEEP_LIMIT },
});

/** Prefixes whose leases are to end. */
export const prefixSweeps: Table<string, PrefixSweepRow> = defineTable({
  name: "lease_prefix_sweeps",
  key: stringKey,
  value: protobufCodec(PrefixSweepRowSchema),
  limit: { rows: SWEEP_LIMIT },
});

/**
 * What a token is called in these tables: 128 bits of a digest of its key, short because every
 * lease has it twice.
 */
export function tokenId(tokenKey: string): string {
  return hash("sha256", tokenKey, "base64url").slice(0, 22);
}

export const leaseTables: readonly AnyTable[] = [
  ...([
    leases,
    leaseIds,
    leaseTokens,
    leaseShares,
    endingLeases,
    irrevocableLeases,
    intents,
    orphans,
    endedTokens,
    prefixSweeps,
  ] as readonly unknown[] as readonly AnyTable[]),
  ...dueTables(LEASE_TIMERS.name, LEASE_TIMERS.rows),
];
