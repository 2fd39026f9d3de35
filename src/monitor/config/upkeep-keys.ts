/** Keys `checkpoint`, `version_checks` and `self_observability`. */
import { basename } from "node:path";
import type { Complaint } from "../../kernel/config/findings.ts";
import { defineKeyGroup, keysOf } from "../../kernel/config/key-group.ts";
import type { Schema } from "../../kernel/config/key.ts";
import { httpUrl, timer } from "../../kernel/config/checks/rules.ts";
import { boolean, duration, integer, oneOf, path, text } from "../../kernel/config/values/types.ts";
import type { MonitorOptions } from "../options.ts";

type CheckpointSection = Omit<MonitorOptions["checkpoint"], "isDefault">;
type VersionSection = Pick<MonitorOptions["versionChecks"], "cacheTtlMs" | "timeoutMs">;
interface DeviceVersionSection {
  readonly enabled: boolean;
  readonly url: string;
  readonly outdatedMinorThreshold: number;
}
interface SelfSection {
  readonly enabled: boolean;
  readonly instanceId: string;
}

const MIN_TTL_MS = 300_000;
const MAX_INSTANCE_LENGTH = 256;

export const checkpoint = defineKeyGroup<CheckpointSection>("checkpoint", {
  store: {
    type: oneOf(["file", "memory"]),
    default: "file",
    help: "Where read positions of logs are stored; memory loses them at each restart.",
  },
  filePath: {
    type: path,
    default: "",
    rule: storeFile,
    help: "Path of the checkpoint file; its name ends in .mdb. Empty: checkpoints.mdb in state.directory.",
  },
  evidenceStore: {
    type: oneOf(["file", "memory"]),
    default: "memory",
    help: "Where the list of objects already read is stored; file is checkpoint.file_path.",
  },
});

export const versionChecks = defineKeyGroup<VersionSection>("version_checks", {
  cacheTtlMs: {
    type: duration,
    default: 3_600_000,
    rule: (ms) => (ms < MIN_TTL_MS ? { rule: "must be at least 5m" } : timer(ms)),
    help: "Time between checks for new versions.",
  },
  timeoutMs: { type: duration, default: 10_000, rule: timer, help: "Timeout of one check." },
});

export const deviceVersions = defineKeyGroup<DeviceVersionSection>("version_checks.devices", {
  enabled: {
    type: boolean,
    default: true,
    help: "Compares client versions on devices with the latest stable release.",
  },
  url: {
    type: text,
    default: "https://pkgs.tailscale.com/stable/?mode=json",
    rule: httpUrl,
    help: "URL that reports the latest stable client version.",
  },
  outdatedMinorThreshold: {
    type: integer(1, 1_000),
    default: 3,
    help: "Minor versions from which a client counts as outdated.",
  },
});

export const selfObservability = defineKeyGroup<SelfSection>("self_observability", {
  enabled: { type: boolean, default: true, help: "Emits metrics about Steward itself." },
  instanceId: {
    type: text,
    default: "",
    rule: (id) =>
      Buffer.byteLength(id) > MAX_INSTANCE_LENGTH
        ? { rule: `must have at most ${MAX_INSTANCE_LENGTH} bytes` }
        : undefined,
    help: "service.instance.id of all telemetry. Empty: the host name.",
  },
});

export const upkeepSchema: Schema = keysOf(
  checkpoint,
  versionChecks,
  deviceVersions,
  selfObservability,
);

/** The store derives its file name from the part before the extension. */
function storeFile(file: string): Complaint | undefined {
  if (file === "" || /^[a-z0-9][a-z0-9-]*\.mdb$/.test(basename(file))) return undefined;
  return {
    rule: "must name a file of lower-case letters, digits and dashes that ends in .mdb",
    remedy: "write e.g. /var/lib/steward/checkpoints.mdb.",
  };
}
