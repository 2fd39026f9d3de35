/**
 * `steward -validate`: checks the configuration's rules and paths without starting anything
 * (docs/configuration.md).
 */
import { findingText, formatFinding, type Finding } from "../kernel/config/findings.ts";
import type { Environment } from "../kernel/config/key.ts";
import { daemonSchema, loadDaemonConfig, type DaemonArguments } from "../daemon/configuration.ts";
import type { CommandOutput } from "./command.ts";
import { noFileNote } from "./config-search.ts";
import { pathFindings } from "./configured-paths.ts";

export interface ValidateArguments extends DaemonArguments {
  readonly json: boolean;
  readonly warningsAsErrors: boolean;
}

/**
 * A file that cannot be read, or is no YAML, is one line. Otherwise errors go to standard error,
 * warnings to standard output; as JSON all go to standard output as one array. The exit code is 1
 * when there is an error, or a warning and those count as errors. Without a file, a line on standard
 * error says so; scripts read "config OK" on standard output. Never the demo.
 */
export function validate(
  options: ValidateArguments,
  environment: Environment,
  output: CommandOutput,
): number {
  const { config, findings: rules } = loadDaemonConfig(options.config, environment);
  const findings = config === undefined ? rules : [...rules, ...pathFindings(config, daemonSchema)];
  const unread = findings.find(
    ({ severity, path }) => severity === "error" && path !== "" && path === options.config,
  );
  if (options.json) output.stdout(`${JSON.stringify(findings.map(jsonFinding), null, 2)}\n`);
  else if (unread !== undefined)
    output.stderr(`config invalid: ${formatFinding(unread).replace(/^ERROR /, "")}\n`);
  else
    for (const finding of findings)
      (finding.severity === "error" ? output.stderr : output.stdout)(`${formatFinding(finding)}\n`);
  if (config === undefined) return 1;
  if (options.warningsAsErrors && findings.length > 0) {
    if (!options.json)
      output.stderr(
        `${findings.length === 1 ? "a warning counts as an error" : `${findings.length} warnings count as errors`}\n`,
      );
    return 1;
  }
  if (options.json) return 0;
  const note = noFileNote(options, environment);
  if (note !== undefined) output.stderr(`${note}\n`);
  output.stdout("config OK\n");
  return 0;
}

/** One finding of `-validate -json`: `severity`, `path`, `message`, `remediation`. */
function jsonFinding(finding: Finding): Readonly<Record<string, string>> {
  const { message, remediation } = findingText(finding);
  return {
    severity: finding.severity,
    ...(finding.path === "" ? {} : { path: finding.path }),
    message,
    ...(remediation === undefined ? {} : { remediation }),
  };
}
