/** `steward -validate`: judges the configuration without starting anything (contract, monitor). */
import { formatFinding } from "../kernel/config/findings.ts";
import type { Environment } from "../kernel/config/key.ts";
import type { DaemonArguments } from "./arguments.ts";
import { loadDaemonConfig } from "./configuration.ts";

/** Where the lines go. */
export interface ValidateOutput {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
}

/** Errors go to standard error, warnings to standard output; the exit code is 1 when there is an error. Never the demo. */
export function validate(options: DaemonArguments, environment: Environment, output: ValidateOutput): number {
  const { config, findings } = loadDaemonConfig(options.config, environment);
  for (const finding of findings) (finding.severity === "error" ? output.stderr : output.stdout)(`${formatFinding(finding)}\n`);
  if (config === undefined) return 1;
  output.stdout("config OK\n");
  return 0;
}
