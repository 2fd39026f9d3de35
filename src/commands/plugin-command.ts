/** Declares `steward plugin`. */
import { defineCommand, refuseOperands } from "./command.ts";

export const pluginCommand = defineCommand({
  name: "plugin",
  usage: "plugin",
  summary: "serve the engine to Vault or OpenBao",
  options: {},
  parse: (parsed, misuse) => refuseOperands(parsed, 0, misuse),
  async run(_, { environment }) {
    const { runPlugin } = await import("../tokens/plugin/run.ts");
    const { releaseInfo, stewardVersion } = await import("../daemon/version.ts");
    return runPlugin({ version: stewardVersion(), build: releaseInfo(), environment });
  },
  help: `Serves the GitHub secrets engine to a Vault or OpenBao server, which starts
this command itself and stops it. The server keeps configuration, permission
sets and leases; no daemon of Steward is needed.

Usage:
  steward plugin

The server checks the SHA-256 of the file that it starts, so register the single
executable of a release, or of npm run build:plugin, and not this launcher.
docs/plugin.md shows how.

Options:
  --help          print this text

Examples:
  bao plugin register -sha256=SUM -command=steward-plugin secret steward
  bao secrets enable -path=github steward

Exits 0 when the server ends it, 1 on failure or when no server started it,
2 on a usage error.
`,
});
