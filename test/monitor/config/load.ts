/** Loads a monitor's configuration as the daemon would, from texts. */
import type { Config } from "../../../src/kernel/config/config.ts";
import { formatFinding } from "../../../src/kernel/config/findings.ts";
import { defineSchema } from "../../../src/kernel/config/key.ts";
import { loadConfig } from "../../../src/kernel/config/load.ts";
import { processKeys } from "../../../src/daemon/config/process-keys.ts";
import { otlpKeys } from "../../../src/kernel/telemetry/config/otlp-keys.ts";
import { resourceKeys } from "../../../src/kernel/telemetry/config/resource-keys.ts";
import { scrapeKeys } from "../../../src/kernel/telemetry/config/scrape-keys.ts";
import { tracingKeys } from "../../../src/kernel/telemetry/config/tracing-keys.ts";
import { monitorChecks, monitorKeys } from "../../../src/monitor/config/keys.ts";
import { gatewayKeys } from "../../../gateway/config.ts";
import { stateKeys } from "../../../src/kernel/state/backups/state-keys.ts";

/** What the monitor's options are made of. */
export const schema = defineSchema(
  gatewayKeys,
  stateKeys,
  processKeys,
  otlpKeys,
  tracingKeys,
  scrapeKeys,
  resourceKeys,
  monitorKeys,
);

/** A configuration and what was said of it; lines of errors and warnings. */
export interface Loaded {
  readonly config: Config | undefined;
  readonly problems: readonly string[];
}

/** `files` are those beside the configuration, by absolute path. */
export function load(
  yaml = "",
  environment: Record<string, string> = {},
  files: Record<string, string> = {},
): Loaded {
  const readFile = (path: string): string => {
    const text = path === "/etc/steward/steward.yaml" ? yaml : files[path];
    if (text === undefined) throw new Error("no such file");
    return text;
  };
  const { config, findings } = loadConfig({
    file: "/etc/steward/steward.yaml",
    environment: { HOME: "/", ...environment },
    schema,
    checks: monitorChecks,
    readFile,
  });
  return { config, problems: findings.map(formatFinding) };
}

/** The configuration of a sound text. */
export function sound(
  yaml = "",
  environment: Record<string, string> = {},
  files: Record<string, string> = {},
): Config {
  const { config, problems } = load(yaml, environment, files);
  if (config === undefined) throw new Error(problems.join("\n"));
  return config;
}
