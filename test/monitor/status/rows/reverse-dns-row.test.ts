import { toJson } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { ReverseDnsSchema } from "../../../../src/gen/steward/monitor/v1/stores_pb.ts";
import type { ReverseDnsFigures } from "../../../../src/monitor/reverse-dns/types.ts";
import { reverseDnsOf } from "../../../../src/monitor/status/rows/reverse-dns-row.ts";

const options = {
  server: "",
  timeoutMs: 1_000,
  cacheTtlMs: 7_200_000,
  negativeTtlMs: 90_000,
  staleTtlMs: 5_000,
  maxEntries: 500,
};
/** No two are equal, also not as sums. */
const figures: ReverseDnsFigures = {
  size: 41,
  hits: 20,
  stale: 4,
  negatives: 3,
  misses: 5,
  answered: 61,
  failed: 7,
  refreshed: 71,
  refreshesFailed: 73,
  expired: 100,
  staleExpired: 11,
  purged: 13,
  overflows: 17,
  lastPurgeMs: 1_700_000_000_000,
};
const rowOf = (changes: Partial<ReverseDnsFigures> = {}) =>
  toJson(ReverseDnsSchema, reverseDnsOf({ options, figures: () => ({ ...figures, ...changes }) }), {
    alwaysEmitImplicit: true,
    useProtoFieldName: true,
  });

it("shows every figure of reverse DNS: a stale name is a hit, and the rate is in per cent", () => {
  expect(rowOf()).toEqual({
    enabled: true,
    capacity: 500,
    size: 41,
    hits: "24",
    misses: "5",
    negatives: "3",
    hit_rate_pct: 75,
    query_success: "61",
    query_fail: "7",
    overflows: "17",
    evicted_expired: "111",
    evicted_purged: "13",
    ttl: "2h0m",
    negative_ttl: "1m30s",
    last_purge: "2023-11-14T22:13:20Z",
  });
});

it("has no rate before the first look-up, and no time before the first purge", () => {
  const row = rowOf({ hits: 0, stale: 0, negatives: 0, misses: 0, lastPurgeMs: undefined });
  expect(row).toMatchObject({ hit_rate_pct: 0 });
  expect(row).not.toHaveProperty("last_purge");
});
