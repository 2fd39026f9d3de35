/** Declares `steward version`. */
import { defineCommand, refuseOperands } from "./command.ts";

export const versionCommand = defineCommand({
  name: "version",
  usage: "version",
  summary: "print version, commit, Node and system",
  options: {},
  parse: (parsed, misuse) => refuseOperands(parsed, 0, misuse),
  async run(_, { output }) {
    const { versionReport } = await import("../daemon/version.ts");
    output.stdout(versionReport());
    return 0;
  },
  help: `Prints the versions to include in a bug report.

Usage:
  steward version

Four lines: Steward's version, the commit of the clone it runs from, Node's
version, and the system. \`steward -version\` prints the version alone.
`,
});
