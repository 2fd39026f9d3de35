/** Declares `steward doctor`. */
import { defineCommand, refuseOperands } from "./command.ts";
import { REMOTE_HELP, remoteArguments, remoteOptions } from "./remote/options.ts";

export const doctorCommand = defineCommand({
  name: "doctor",
  usage: "doctor",
  summary: "look for what is wrong and say what helps",
  asksDaemon: true,
  options: remoteOptions,
  parse(parsed, misuse) {
    refuseOperands(parsed, 0, misuse);
    return remoteArguments(parsed, misuse);
  },
  async run(options, context) {
    const { doctor } = await import("./remote/doctor.ts");
    return doctor(options, context);
  },
  help: `Looks at the running daemon and its services: readiness, collectors,
credentials, the connection to the archive, the analysis, the seal and, with a
Vault token (VAULT_TOKEN, else the file ~/.vault-token), each GitHub app. It
changes nothing and mints nothing.

Usage:
  steward doctor [OPTIONS]

Options:
${REMOTE_HELP}
Examples:
  steward doctor
  steward doctor --json

Exits 0 when nothing is wrong, 1 when something is or the daemon cannot be
asked, 2 on a usage error, 130 on Ctrl-C.
`,
});
