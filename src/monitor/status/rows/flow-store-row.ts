/** The status of the flow stores. */
import { create } from "@bufbuild/protobuf";
import {
  FlowBackendSchema,
  FlowStoreSchema,
  type FlowStore,
} from "../../../gen/steward/monitor/v1/stores_pb.ts";
import { formatDuration } from "../../../kernel/config/values/units.ts";
import type { FlowStoresStatus } from "../../flowstore/types.ts";

const MINUTE_MS = 60_000;

/** Zeros while nothing is stored. */
export function flowStoreOf(status: FlowStoresStatus | undefined): FlowStore {
  if (status === undefined)
    return create(FlowStoreSchema, {
      retention: formatDuration(0),
      backend: create(FlowBackendSchema),
    });
  const { networks } = status;
  const sum = (read: (row: (typeof networks)[number]) => number): number =>
    networks.reduce((total, row) => total + read(row), 0);
  const times = networks.flatMap((row) => row.times ?? []);
  const coveredMs =
    Math.max(...times.map(({ latestMs }) => latestMs)) +
    MINUTE_MS -
    Math.min(...times.map(({ earliestMs }) => earliestMs));
  return create(FlowStoreSchema, {
    enabled: networks.length > 0,
    buckets: sum(({ buckets }) => buckets),
    capacity: networks[0]?.capacity ?? 0,
    observations: BigInt(sum(({ observations }) => observations)),
    truncated: BigInt(sum(({ truncated }) => truncated)),
    retention: formatDuration(status.retentionMs),
    covered: times.length === 0 ? "" : formatDuration(coveredMs),
    capacityProfile: status.profile,
    maxRecent: status.maxRecent,
    estimatedBytes: BigInt(status.estimatedBytes),
    backend: create(FlowBackendSchema, {
      kind: status.kind,
      persistent: status.kind !== "memory",
      healthy: status.errors.length === 0,
      errors: [...new Set(status.errors)],
      queued: sum(({ backend }) => backend.queued),
      queueDrops: BigInt(sum(({ backend }) => backend.queueDrops)),
      rows: BigInt(sum(({ backend }) => backend.rows)),
      sizeBytes: BigInt(sum(({ backend }) => backend.sizeBytes)),
    }),
  });
}
