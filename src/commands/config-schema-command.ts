/** Declares `steward config-schema`. */
import { defineCommand, refuseOperands } from "./command.ts";

export const configSchemaCommand = defineCommand({
  name: "config-schema",
  usage: "config-schema",
  summary: "print the JSON Schema of the configuration file",
  options: {},
  parse: (parsed, misuse) => refuseOperands(parsed, 0, misuse),
  async run(_, { output }) {
    const [{ fileSchema }, { daemonSchema }] = await Promise.all([
      import("../kernel/config/file-schema.ts"),
      import("../daemon/configuration.ts"),
    ]);
    output.stdout(`${JSON.stringify(fileSchema(daemonSchema), undefined, 2)}\n`);
    return 0;
  },
  help: `Prints a JSON Schema with which an editor completes, explains and checks the
configuration file.

Usage:
  steward config-schema

Options:
  --help          print this text

Examples:
  steward config-schema > /etc/steward/steward.schema.json

With this first line in steward.yaml, an editor with yaml-language-server
finds it:

  # yaml-language-server: $schema=steward.schema.json

\`steward -validate\` also checks the rules between keys and the files that are
named.

Exits 0 on success, 1 on failure, 2 on a usage error.
`,
});
