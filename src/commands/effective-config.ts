/** `steward -print-effective-config`: what the daemon would run with, without secrets (contract, monitor; RESOLUTIONS M9–M11). */
import { stringify } from "yaml";
import { formatFinding } from "../kernel/config/findings.ts";
import type { Environment } from "../kernel/config/key.ts";
import type { EffectiveConfigArguments } from "./arguments.ts";
import { loadDaemonConfig } from "./configuration.ts";
import type { CommandOutput } from "./validate.ts";

/** Prints all keys, sorted. Ends 1 with one line on standard error when the configuration is not valid. Never the demo. */
export function printEffectiveConfig(options: EffectiveConfigArguments, environment: Environment, output: CommandOutput): number {
  const { config, findings } = loadDaemonConfig(options.config, environment);
  if (config === undefined) {
    const [first] = findings;
    output.stderr(`config invalid: ${first === undefined ? "no reason is known" : formatFinding(first).replace(/^ERROR /, "")}\n`);
    return 1;
  }
  const rows = config.effective({ provenance: options.provenance });
  output.stdout(options.format === "yaml" ? stringify(rows) : `${JSON.stringify(rows, null, 2)}\n`);
  return 0;
}
