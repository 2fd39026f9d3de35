/**
 * `steward -print-effective-config` and `-print-effective-config-yaml`: what the daemon would run
 * with, without secrets.
 */
import { stringify } from "yaml";
import type { Config } from "../kernel/config/config.ts";
import { printable } from "../kernel/base/text/printable.ts";
import { configFile } from "../kernel/config/config-file.ts";
import { formatFinding } from "../kernel/config/findings.ts";
import type { Environment } from "../kernel/config/key.ts";
import type { DaemonArguments } from "../daemon/configuration.ts";
import { daemonSchema, loadDaemonConfig } from "../daemon/configuration.ts";
import type { CommandOutput } from "./command.ts";
import { noFileNote } from "./config-search.ts";

export interface EffectiveConfigArguments extends DaemonArguments {
  readonly format: "json" | "yaml";
  readonly provenance: boolean;
}

/**
 * Prints all keys, sorted. Ends 1 with one line on standard error when the configuration is not
 * valid. Never the demo.
 */
export function printEffectiveConfig(
  options: EffectiveConfigArguments,
  environment: Environment,
  output: CommandOutput,
): number {
  const config = loadOrSay(options, environment, output);
  if (config === undefined) return 1;
  const rows = config.effective({ provenance: options.provenance });
  output.stdout(options.format === "yaml" ? stringify(rows) : `${JSON.stringify(rows, null, 2)}\n`);
  return 0;
}

/**
 * Prints a file that loads to the same values. Ends 1 like the other when the configuration is not
 * valid.
 */
export function printConfigFile(
  options: DaemonArguments,
  environment: Environment,
  output: CommandOutput,
): number {
  const config = loadOrSay(options, environment, output);
  if (config === undefined) return 1;
  const note = noFileNote(options, environment);
  const from =
    note === undefined
      ? `${printable(options.config ?? "")} and the environment`
      : `the environment alone: ${note}`;
  output.stdout(configFile(config, daemonSchema, from));
  return 0;
}

function loadOrSay(
  options: DaemonArguments,
  environment: Environment,
  output: CommandOutput,
): Config | undefined {
  const { config, findings } = loadDaemonConfig(options.config, environment);
  if (config !== undefined) return config;
  const [first] = findings;
  output.stderr(
    `config invalid: ${first === undefined ? "no reason is known" : formatFinding(first).replace(/^ERROR /, "")}\n`,
  );
  return undefined;
}
