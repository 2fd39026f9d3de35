/** Keys of the ingress log: `ingress_wal.*`. */
import { join } from "node:path";
import type { Config } from "../../../kernel/config/config.ts";
import { wholeFolder } from "../../../kernel/config/checks/rules.ts";
import { defineKeyGroup, keysOf } from "../../../kernel/config/key-group.ts";
import type { Schema } from "../../../kernel/config/key.ts";
import { boolean, integer, oneOf, path } from "../../../kernel/config/values/types.ts";
import type { IngressOptions } from "../options.ts";

interface IngressSection {
  readonly enabled: boolean;
  readonly directory: string;
  readonly maxBytes: number;
  readonly maxEntries: number;
  readonly corruption: "fail";
}

const MIB = 2 ** 20;
const GIB = 2 ** 30;
/** In the state folder. */
const DEFAULT_DIRECTORY = "ingress-wal";

export const ingressWal = defineKeyGroup<IngressSection>("ingress_wal", {
  enabled: {
    type: boolean,
    default: false,
    help: "Writes what the receivers accept to disk before they say so, and applies it again after a crash.",
  },
  directory: {
    type: path,
    default: "",
    rule: wholeFolder("/var/lib/steward/ingress-wal"),
    help: "Folder of the log, used by this Steward alone. Empty: ingress-wal in state.directory.",
  },
  maxBytes: {
    type: integer(1, 64 * GIB),
    default: 256 * MIB,
    help: "Maximum size of the bodies in the log; beyond it senders are told to try again.",
  },
  maxEntries: {
    type: integer(1, 1_000_000),
    default: 10_000,
    help: "Maximum number of bodies in the log; beyond it senders are told to try again.",
  },
  corruption: {
    type: oneOf(["fail"]),
    default: "fail",
    help: "What a damaged log does: the receivers stay closed, and nothing of it is dropped.",
  },
});

export const ingressSchema: Schema = keysOf(ingressWal);

/** Undefined while it is off. */
export function ingressOptions(config: Config, stateDirectory: string): IngressOptions | undefined {
  if (!config.get(ingressWal.enabled)) return undefined;
  return {
    directory: config.get(ingressWal.directory) || join(stateDirectory, DEFAULT_DIRECTORY),
    maxBytes: config.get(ingressWal.maxBytes),
    maxEntries: config.get(ingressWal.maxEntries),
  };
}
