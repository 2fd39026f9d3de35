/**
 * Completes the process's part of the status with what only the monitor knows: network names,
 * running collectors, and the checkpoint store in effect.
 */
import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import {
  ConfigSummarySchema,
  type ConfigSummary,
} from "../../../gen/steward/monitor/v1/config_summary_pb.ts";
import type { ServiceInfo } from "../../../gen/steward/monitor/v1/process_pb.ts";
import { schemaVersion } from "../../../kernel/wire/style.ts";
import type { CheckpointStoreStatus } from "../../checkpoints/open.ts";
import type { NetworkStatus } from "../../status.ts";
import { humanDuration, wholeSeconds } from "../human.ts";

/**
 * Adds the network's name or the number of networks, and the uptime. Uses the monitor's own start
 * time until the process's is known.
 */
export function serviceInfo(
  reported: ServiceInfo,
  networks: readonly Pick<NetworkStatus, "name">[],
  { startedMs, nowMs }: { readonly startedMs: number; readonly nowMs: number },
): ServiceInfo {
  const startedAt = reported.startedAt ?? timestampFromMs(startedMs);
  const upMs = nowMs - timestampMs(startedAt);
  const [first] = networks;
  const network =
    first === undefined
      ? reported.network
      : networks.length === 1
        ? first.name
        : `${networks.length} networks`;
  return {
    ...reported,
    startedAt,
    network,
    uptime: humanDuration(upMs),
    uptimeSeconds: wholeSeconds(upMs),
  };
}

/** Completes the configuration summary; returns the same object while nothing changes. */
export function createConfigPart(): (
  reported: ConfigSummary,
  checkpoints: CheckpointStoreStatus,
  networks: readonly Pick<NetworkStatus, "collectors">[],
) => ConfigSummary {
  let last:
    | { readonly reported: ConfigSummary; readonly key: string; readonly config: ConfigSummary }
    | undefined;
  return (reported, { store, path, reason = "" }, networks) => {
    const registered = [
      ...new Set(networks.flatMap(({ collectors }) => collectors.map(({ name }) => name))),
    ];
    const enabledCollectors = networks.length === 0 ? reported.enabledCollectors : registered;
    const key = JSON.stringify([store, path, reason, enabledCollectors]);
    if (last?.reported !== reported || last.key !== key) {
      const config = create(ConfigSummarySchema, {
        ...reported,
        schemaVersion: schemaVersion(ConfigSummarySchema),
        checkpointStore: store,
        checkpointPath: path,
        checkpointReason: reason,
        enabledCollectors,
      });
      last = { reported, key, config };
    }
    return last.config;
  };
}
