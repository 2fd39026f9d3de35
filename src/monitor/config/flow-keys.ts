/** Keys `flows`: the store of flows that the explorer shows, in memory or on disk. */
import { resolve } from "node:path";
import { atKey, isChanged } from "../../kernel/config/checks/key-finding.ts";
import { wholeFolder } from "../../kernel/config/checks/rules.ts";
import type { Config } from "../../kernel/config/config.ts";
import type { Complaint, Finding } from "../../kernel/config/findings.ts";
import { defineKeyGroup, keysOf, readKeyGroup } from "../../kernel/config/key-group.ts";
import type { Key, Schema } from "../../kernel/config/key.ts";
import type { Check } from "../../kernel/config/load.ts";
import { formatDuration } from "../../kernel/config/values/units.ts";
import { boolean, duration, integer, oneOf, path } from "../../kernel/config/values/types.ts";
import { stateFolder } from "../../kernel/state/backups/state-keys.ts";
import { ingressWal } from "../ingress/config/ingress-keys.ts";
import type { FlowDiskOptions, FlowStoreOptions } from "../options.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const SECOND_MS = 1_000;
const MAX_RETENTION_MS = 24 * HOUR_MS;

export const flows = defineKeyGroup<Omit<FlowStoreOptions, "disk"> & { readonly enabled: boolean }>(
  "flows",
  {
    enabled: {
      type: boolean,
      default: true,
      help: "Stores network traffic for /flows and /api/flows.json, in memory unless flows.store.directory is set.",
    },
    retentionMs: {
      type: duration,
      default: 6 * HOUR_MS,
      rule: (ms): Complaint | undefined =>
        ms >= MINUTE_MS && ms <= MAX_RETENTION_MS
          ? undefined
          : { rule: "must be between 1m and 24h", remedy: "write e.g. 6h." },
      help: "How long flows are stored in memory, 1m to 24h. A restart loses them.",
    },
    maxFutureSkewMs: {
      type: duration,
      default: 5 * MINUTE_MS,
      rule: (ms): Complaint | undefined =>
        ms <= HOUR_MS ? undefined : { rule: "must be at most 1h", remedy: "write e.g. 5m." },
      help: "Flows whose time is further ahead than this are not stored, at most 1h.",
    },
    capacityProfile: {
      type: oneOf<FlowStoreOptions["capacityProfile"]>(["compact", "default", "expanded"]),
      default: "default",
      help: "Limits of the store in memory for one network: compact is half of default, expanded is twice.",
    },
  },
);

export const flowDisk = defineKeyGroup<FlowDiskOptions>("flows.store", {
  directory: {
    type: path,
    default: "",
    rule: wholeFolder("/var/lib/steward/flows"),
    help: "Folder that keeps flows over restarts, used by this Steward alone; one file for each network. Empty: flows are stored in memory.",
  },
  retentionMs: {
    type: duration,
    default: 720 * HOUR_MS,
    help: "How long flows are stored on disk, 1h to 8760h.",
  },
  maxRows: {
    type: integer(0, 1_000_000_000),
    default: 5_000_000,
    help: "Connections that are stored of each network, 10000 to 1000000000; the oldest make way.",
  },
  maxExportRows: {
    type: integer(0, 1_000_000),
    default: 50_000,
    help: "Connections in one export, 100 to 1000000; the newest.",
  },
  queueSize: {
    type: integer(0, 1_048_576),
    default: 8_192,
    help: "Connections of a network that may wait to be written, 64 to 1048576; further ones are dropped and counted.",
  },
  batchSize: {
    type: integer(0, 100_000),
    default: 512,
    help: "Connections that are written before the interval is over, 1 to 100000; at most flows.store.queue_size.",
  },
  flushIntervalMs: {
    type: duration,
    default: 5 * SECOND_MS,
    help: "How long a connection waits to be written, 100ms to 5m. A crash loses what waits.",
  },
  queryTimeoutMs: {
    type: duration,
    default: 15 * SECOND_MS,
    help: "How long a question to the store may take, 1s to 5m.",
  },
  sweepIntervalMs: {
    type: duration,
    default: HOUR_MS,
    help: "Time between two looks for flows that are too old or too many, 1m to 24h.",
  },
});

export const flowSchema: Schema = keysOf(flows, flowDisk);

/** Undefined while `flows.enabled` is false. */
export function flowStoreOptions(config: Config): FlowStoreOptions | undefined {
  const { enabled, ...options } = readKeyGroup(config, flows);
  if (!enabled) return undefined;
  const disk = readKeyGroup(config, flowDisk);
  return { ...options, disk: disk.directory === "" ? undefined : disk };
}

/** The folder, or undefined while flows are stored in memory. */
export function flowDirectory(config: Config): string | undefined {
  return flowStoreOptions(config)?.disk?.directory;
}

const ranges: readonly {
  readonly key: Key<number>;
  readonly from: number;
  readonly to: number;
  readonly show: (value: number) => string;
}[] = [
  { key: flowDisk.retentionMs, from: HOUR_MS, to: 8_760 * HOUR_MS, show: formatDuration },
  { key: flowDisk.maxRows, from: 10_000, to: 1_000_000_000, show: String },
  { key: flowDisk.maxExportRows, from: 100, to: 1_000_000, show: String },
  { key: flowDisk.queueSize, from: 64, to: 1_048_576, show: String },
  { key: flowDisk.batchSize, from: 1, to: 100_000, show: String },
  { key: flowDisk.flushIntervalMs, from: 100, to: 5 * MINUTE_MS, show: formatDuration },
  { key: flowDisk.queryTimeoutMs, from: SECOND_MS, to: 5 * MINUTE_MS, show: formatDuration },
  { key: flowDisk.sweepIntervalMs, from: MINUTE_MS, to: MAX_RETENTION_MS, show: formatDuration },
];

/** The keys of the store on disk count only where it has a folder. */
export const checkFlowStore: Check = {
  needs: [...flowSchema, stateFolder, ingressWal.enabled, ingressWal.directory],
  run(config) {
    const directory = config.get(flowDisk.directory);
    if (directory === "") return unused(config);
    const error = (key: Key<unknown>, complaint: Complaint): Finding =>
      atKey(config, key, "error", complaint);
    const { batchSize, queueSize } = readKeyGroup(config, flowDisk);
    return [
      ...ranges
        .filter(({ key, from, to }) => config.get(key) < from || config.get(key) > to)
        .map(({ key, from, to, show }) =>
          error(key, {
            rule: `must be between ${show(from)} and ${show(to)} while flows.store.directory is set`,
            remedy: `write e.g. ${show(key.default)}.`,
          }),
        ),
      ...(batchSize > queueSize
        ? [
            error(flowDisk.batchSize, {
              rule: `must be at most flows.store.queue_size (${queueSize})`,
              remedy: "lower it, or raise flows.store.queue_size.",
            }),
          ]
        : []),
      ...othersFolder(config, directory),
      ...inert(config),
    ];
  },
};

function othersFolder(config: Config, directory: string): Finding[] {
  const taken = [
    { key: stateFolder, path: config.get(stateFolder) },
    ...(config.get(ingressWal.enabled)
      ? [{ key: ingressWal.directory, path: config.get(ingressWal.directory) }]
      : []),
  ].find(({ path: other }) => other !== "" && resolve(other) === resolve(directory));
  return taken === undefined
    ? []
    : [
        atKey(config, flowDisk.directory, "error", {
          rule: `is the folder of ${taken.key.path}`,
          remedy: "give the flows a folder of their own, e.g. one in it.",
        }),
      ];
}

/** Warns of keys that limit the store in memory and are set beside one on disk. */
function inert(config: Config): Finding[] {
  return [flows.retentionMs, flows.capacityProfile]
    .filter((key) => isChanged(config, key))
    .map((key) =>
      atKey(config, key, "warning", {
        rule: "is ignored: flows.store.directory is set",
        remedy:
          "remove it; flows.store.retention and flows.store.max_rows limit the store on disk.",
      }),
    );
}

function unused(config: Config): Finding[] {
  const written = keysOf(flowDisk).find((key) => isChanged(config, key));
  return written === undefined
    ? []
    : [
        atKey(config, written, "warning", {
          rule: "is ignored: flows.store.directory is not set",
          remedy: "set it, or remove this key.",
        }),
      ];
}
