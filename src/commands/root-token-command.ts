/** Declares `steward root-token`. */
import { defineCommand, refuseOperands, stateArguments, stateOptions } from "./command.ts";

export const rootTokenCommand = defineCommand({
  name: "root-token",
  usage: "root-token",
  summary: "create a root token when the first one is lost",
  options: stateOptions,
  parse: (parsed, misuse) => {
    refuseOperands(parsed, 0, misuse);
    return stateArguments(parsed);
  },
  async run(options, { environment, output }) {
    const { rootToken } = await import("./root-token.ts");
    return rootToken(options, environment, output);
  },
  help: `Creates a root token of the Vault API when the first one is lost.

Usage:
  steward root-token [OPTIONS]

The token is allowed everything and never expires. It is printed once, on
standard output, and never stored in plain text. The daemon must not be running;
its key must be where the configuration says. Run it as the daemon's user, not
as root. The audit log records the token.

Options:
  --config FILE   the daemon's configuration, which says where the state folder
                  is; without it, the file that the daemon would find
  --demo          create it in the state of the demo
  --help          print this text

Examples:
  systemctl stop steward
  runuser -u steward -- steward root-token --config /etc/steward/steward.yaml
  systemctl start steward
  bao token revoke -self        revoke it when it is no longer needed

Exits 0 on success, 1 on failure, e.g. because the daemon is running, 2 on a
usage error.
`,
});
