/**
 * What of the house's part the monitor knows better: names of networks, collectors that run, where
 * checkpoints really are.
 */
import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import {
  ConfigSummarySchema,
  type ConfigSummary,
} from "../../gen/steward/monitor/v1/config_summary_pb.ts";
import type { ServiceInfo } from "../../gen/steward/monitor/v1/process_pb.ts";
import { schemaVersion } from "../../kernel/wire/style.ts";
import type { CheckpointStoreStatus } from "../checkpoints/open.ts";
import type { NetworkStatus } from "../status.ts";
import { humanDuration, wholeSeconds } from "./human.ts";

/**
 * With the network's own name, or how many there are, and the time since the start; the monitor's
 * own start where the process's is not told.
 */
export function serviceInfo(
  told: ServiceInfo,
  networks: readonly Pick<NetworkStatus, "name">[],
  { startedMs, nowMs }: { readonly startedMs: number; readonly nowMs: number },
): ServiceInfo {
  const startedAt = told.startedAt ?? timestampFromMs(startedMs);
  const upMs = nowMs - timestampMs(startedAt);
  const [first] = networks;
  const network =
    first === undefined
      ? told.network
      : networks.length === 1
        ? first.name
        : `${networks.length} networks`;
  return {
    ...told,
    startedAt,
    network,
    uptime: humanDuration(upMs),
    uptimeSeconds: wholeSeconds(upMs),
  };
}

/** Completes the configuration; the same object as long as nothing of it changes. */
export function createConfigPart(): (
  told: ConfigSummary,
  checkpoints: CheckpointStoreStatus,
  networks: readonly Pick<NetworkStatus, "collectors">[],
) => ConfigSummary {
  let last:
    | { readonly told: ConfigSummary; readonly key: string; readonly config: ConfigSummary }
    | undefined;
  return (told, { store, path, reason = "" }, networks) => {
    const registered = [
      ...new Set(networks.flatMap(({ collectors }) => collectors.map(({ name }) => name))),
    ];
    const enabledCollectors = networks.length === 0 ? told.enabledCollectors : registered;
    const key = JSON.stringify([store, path, reason, enabledCollectors]);
    if (last?.told !== told || last.key !== key) {
      const config = create(ConfigSummarySchema, {
        ...told,
        schemaVersion: schemaVersion(ConfigSummarySchema),
        checkpointStore: store,
        checkpointPath: path,
        checkpointReason: reason,
        enabledCollectors,
      });
      last = { told, key, config };
    }
    return last.config;
  };
}
