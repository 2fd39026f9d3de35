/** The status of reverse DNS. */
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  ReverseDnsSchema,
  type ReverseDns as ReverseDnsRow,
} from "../../../gen/steward/monitor/v1/stores_pb.ts";
import type { MonitorStatus } from "../../status.ts";
import { humanDuration } from "../human.ts";

const PER_CENT = 100;

/** Zeros while it is off. A stale name is a hit, as it was found. */
export function reverseDnsOf(reverseDns: MonitorStatus["reverseDns"]): ReverseDnsRow {
  if (reverseDns === undefined)
    return create(ReverseDnsSchema, { ttl: humanDuration(0), negativeTtl: humanDuration(0) });
  const { maxEntries, cacheTtlMs, negativeTtlMs } = reverseDns.options;
  const figures = reverseDns.figures();
  const hits = figures.hits + figures.stale;
  const lookups = hits + figures.misses + figures.negatives;
  return create(ReverseDnsSchema, {
    enabled: true,
    capacity: maxEntries,
    size: figures.size,
    hits: BigInt(hits),
    misses: BigInt(figures.misses),
    negatives: BigInt(figures.negatives),
    hitRatePct: lookups === 0 ? 0 : (hits / lookups) * PER_CENT,
    queryFail: BigInt(figures.failed),
    querySuccess: BigInt(figures.answered),
    overflows: BigInt(figures.overflows),
    evictedExpired: BigInt(figures.expired + figures.staleExpired),
    evictedPurged: BigInt(figures.purged),
    ttl: humanDuration(cacheTtlMs),
    negativeTtl: humanDuration(negativeTtlMs),
    ...(figures.lastPurgeMs === undefined
      ? {}
      : { lastPurge: timestampFromMs(figures.lastPurgeMs) }),
  });
}
