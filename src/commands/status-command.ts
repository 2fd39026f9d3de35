/** Declares `steward status`. */
import { defineCommand, refuseOperands } from "./command.ts";
import { REMOTE_HELP, remoteArguments, remoteOptions } from "./remote/options.ts";

export const statusCommand = defineCommand({
  name: "status",
  usage: "status",
  summary: "say whether the daemon is well",
  asksDaemon: true,
  options: remoteOptions,
  parse(parsed, misuse) {
    refuseOperands(parsed, 0, misuse);
    return remoteArguments(parsed, misuse);
  },
  async run(options, context) {
    const { status } = await import("./remote/status.ts");
    return status(options, context);
  },
  help: `Asks the running daemon how it is: what is wrong and what helps, and a line for
each service.

Usage:
  steward status [OPTIONS]

Options:
${REMOTE_HELP}
Examples:
  steward status
  steward status --address https://nas.lan:8400 --token-file token

Exits 0 when the daemon is ready, 1 when it is not or cannot be asked, 2 on a
usage error, 130 on Ctrl-C.
`,
});
