/** The configuration that `steward init` writes, with comments. */
import { scalar, type Part } from "./part.ts";

/** The JSON Schema beside the configuration, which its first line names for editors. */
export const SCHEMA_FILE = "steward.schema.json";

/** What the answers came to. Undefined parts are services that are off. */
export interface ConfigurationParts {
  readonly stateFolder: string;
  readonly network: Part | undefined;
  readonly archive: Part | undefined;
  readonly tokens: Part | undefined;
}

export function configurationText({
  stateFolder,
  network,
  archive,
  tokens,
}: ConfigurationParts): string {
  return [
    `# yaml-language-server: $schema=${SCHEMA_FILE}`,
    "# Made by steward init. The line above has editors complete, explain and check what is written here.",
    "# After a change: steward -validate -config FILE",
    "",
    "# A service that is off opens nothing and serves nothing.",
    "services:",
    `  monitor: ${network !== undefined}`,
    `  dedup: ${archive !== undefined}`,
    `  tokens: ${tokens !== undefined}`,
    "",
    "# All data, for this user only, with a backup every night in its folder backups.",
    "state:",
    `  directory: ${scalar(stateFolder)}`,
    "",
    "# Pages and API, for this machine only. An address that others reach also needs auth.token_file",
    "# (openssl rand -hex 32 > FILE) and should have gateway.tls.cert_file and gateway.tls.key_file.",
    "gateway:",
    "  listen: 127.0.0.1:8400",
    "",
    ...[network, archive, tokens].flatMap((part) => part?.lines ?? []),
  ]
    .join("\n")
    .trimEnd()
    .concat("\n");
}
