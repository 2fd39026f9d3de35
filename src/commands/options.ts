/**
 * The options of each command, as data: the parser, the messages of wrong use and the choice of
 * nearest names read them.
 */
import type { ParseArgsOptionDescriptor } from "node:util";

/** A number option's bounds, both included. */
export interface NumberRange {
  readonly from: number;
  readonly to: number;
  readonly whole: boolean;
}

/** One option. Without `value` it is a switch. */
export interface Option {
  /** `duration` is written `30s`, `1m30s`; a list of words admits only these. */
  readonly value?: "text" | "duration" | NumberRange | readonly string[];
  readonly short?: string;
  /** May be given several times, each adding a value. */
  readonly many?: true;
  /** The options of which it needs one to mean anything. */
  readonly goesWith?: string | readonly string[];
}

/** The options of a command by their name without dashes. */
export type OptionTable = Readonly<Record<string, Option>>;

/** What collects once. */
export type CycleMode = "exposition-check" | "preflight" | "once";

/** Mutually exclusive. */
export const cycleModes: readonly CycleMode[] = ["exposition-check", "preflight", "once"];

/** The daemon's options. */
export const daemonOptions: OptionTable = {
  config: { value: "text" },
  demo: {},
  validate: {},
  json: { goesWith: ["validate", ...cycleModes] },
  "warnings-as-errors": { goesWith: "validate" },
  "print-effective-config": {},
  "print-effective-config-yaml": {},
  "print-effective-config-format": { value: ["json", "yaml"], goesWith: "print-effective-config" },
  "print-effective-config-provenance": { goesWith: "print-effective-config" },
  healthcheck: {},
  "healthcheck-timeout": { value: "duration", goesWith: "healthcheck" },
  preflight: {},
  "preflight-export": { goesWith: "preflight" },
  "preflight-timeout": { value: "duration", goesWith: cycleModes },
  once: {},
  "exposition-check": {},
  version: {},
  help: { short: "h" },
};

/** The options of `steward dedup`. Ranges are those of the API's settings. */
export const dedupOptions: OptionTable = {
  threshold: { value: { from: 0, to: 1, whole: false } },
  "min-words": { value: { from: 1, to: 1000, whole: true } },
  workers: { value: { from: 1, to: 256, whole: true } },
  state: { value: "text" },
  include: { value: "text", many: true },
  exclude: { value: "text", many: true },
  "id-field": { value: "text" },
  "text-field": { value: "text" },
  skipped: {},
  json: {},
  quiet: {},
  help: { short: "h" },
};

/**
 * The options of `steward backup`, `steward check` and `steward root-token`: where the state folder
 * is, as for the daemon.
 */
export const folderOptions: OptionTable = {
  config: { value: "text" },
  demo: {},
  help: { short: "h" },
};

/** The options of `steward rotate-key`. */
export const rotateKeyOptions: OptionTable = {
  ...folderOptions,
  "key-file": { value: "text" },
};

/** The options of `steward version`. */
export const versionOptions: OptionTable = { help: { short: "h" } };

/** Every table by its command; the daemon's is that without a name. */
export const commandOptions: Readonly<Record<string, OptionTable>> = {
  "": daemonOptions,
  dedup: dedupOptions,
  backup: folderOptions,
  check: folderOptions,
  "root-token": folderOptions,
  "rotate-key": rotateKeyOptions,
  version: versionOptions,
};

/** The commands beside the daemon. */
export const commandNames: readonly string[] = [
  "dedup",
  "backup",
  "check",
  "root-token",
  "rotate-key",
  "version",
  "help",
];

/** The table in the form of `node:util` parseArgs. */
export function asParseArgs(table: OptionTable): Record<string, ParseArgsOptionDescriptor> {
  return Object.fromEntries(
    Object.entries(table).map(([name, option]) => [
      name,
      {
        type: option.value === undefined ? "boolean" : "string",
        ...(option.short === undefined ? {} : { short: option.short }),
      },
    ]),
  );
}
