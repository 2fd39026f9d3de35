/** Declares `steward migrate-config`. */
import { defineCommand, refuseOperands } from "./command.ts";
import type { MigrateArguments } from "./migrate-config.ts";

export const migrateConfigCommand = defineCommand({
  name: "migrate-config",
  usage: "migrate-config OLD",
  summary: "translate another exporter's configuration",
  options: {},
  parse(parsed, misuse): MigrateArguments {
    refuseOperands(parsed, 2, misuse);
    const [from, to] = parsed.positionals;
    if (from === undefined || from === "") throw misuse("OLD is needed: the file to translate");
    if (to === "") throw misuse("NEW must not be empty");
    return { from, to };
  },
  async run(options, { output }) {
    const { migrateConfig } = await import("./migrate-config.ts");
    return migrateConfig(options, output);
  },
  help: `Translates the configuration file of an exporter for such networks that
operators use today into Steward's, with its comments, and says on standard
error what was renamed and what was left out.

Usage:
  steward migrate-config OLD [NEW]

NEW is a new file that only you can read; without it, the translation goes to
standard output. It holds the secrets that OLD holds.

Options:
  --help          print this text

Examples:
  steward migrate-config exporter.yaml /etc/steward/steward.yaml
  steward -validate -config /etc/steward/steward.yaml

Exits 0 on success, 1 on failure, 2 on a usage error.
`,
});
