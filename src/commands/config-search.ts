/** Default locations of the configuration file (docs/configuration.md, "Where the file is"). */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { printable } from "../kernel/base/text/printable.ts";
import type { Environment } from "../kernel/config/key.ts";
import type { DaemonArguments } from "../daemon/configuration.ts";

/**
 * Whether a path names anything, also what may not be read: that is an error to report and not an
 * absent file.
 */
export type Exists = (path: string) => boolean;

const MACHINE_FILE = "/etc/steward/steward.yaml";

/**
 * The arguments with the file of the user or of the machine, the first that exists, unless the
 * arguments or a variable already say what to run with. For the daemon and for the commands that
 * work on its state; the one-shot modes read what they are given.
 */
export function withFoundFile<T extends DaemonArguments>(
  options: T,
  environment: Environment,
  exists: Exists = existsOnDisk,
): T {
  if (options.config !== undefined || options.demo || Object.entries(environment).some(isSetting))
    return options;
  const file = candidates(environment).find(exists);
  return file === undefined ? options : { ...options, config: file };
}

/**
 * What a one-shot mode says that was given no file, so that nobody takes its result for that of the
 * daemon's file. Undefined with a file.
 */
export function noFileNote(options: DaemonArguments, environment: Environment): string | undefined {
  if (options.config !== undefined) return undefined;
  const { config } = withFoundFile(options, environment);
  const daemons = config === undefined ? "" : `; the daemon would read ${printable(config)}`;
  return `no file was read, since there is no -config FILE${daemons}`;
}

/** Where a new file is found: that of the machine for root, else that of the user. */
export function newFileFor(environment: Environment, isRoot: boolean): string {
  const own = isRoot ? undefined : candidates(environment).find((file) => file !== MACHINE_FILE);
  return own ?? MACHINE_FILE;
}

function candidates(environment: Environment): string[] {
  const home = environment["HOME"] ? join(environment["HOME"], ".config") : undefined;
  const folder = environment["XDG_CONFIG_HOME"] || home;
  return [...(folder === undefined ? [] : [join(folder, "steward", "steward.yaml")]), MACHINE_FILE];
}

function isSetting([name, value]: readonly [string, string | undefined]): boolean {
  return /^(?:STEWARD|PAPERLESS)_/.test(name) && value !== undefined && value !== "";
}

function existsOnDisk(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    return !["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
  }
}
