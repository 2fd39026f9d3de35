import { join } from "node:path";
import { loadDaemonConfig, type DaemonConfiguration } from "../../../src/daemon/configuration.ts";
import type { Config } from "../../../src/kernel/config/config.ts";

/** The daemon's configuration of these variables; throws when it is not sound. */
export function configOf(environment: Readonly<Record<string, string>>, file?: string): Config {
  return configurationOf(environment, file).config;
}

/** The same, with what follows from it. */
export function configurationOf(
  environment: Readonly<Record<string, string>>,
  file?: string,
): DaemonConfiguration {
  const { config, findings } = loadDaemonConfig(file, { HOME: "/", ...environment });
  if (config === undefined) throw new Error(JSON.stringify(findings));
  return {
    config,
    warnings: findings,
    demo: { demo: false, reason: "a test" },
    file,
    stateRoot: "/state",
    stateDirectory: join("/state"),
  };
}
