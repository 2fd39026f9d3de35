/** Declares `steward devices`. */
import { defineCommand, refuseOperands } from "./command.ts";
import type { DevicesArguments } from "./remote/devices.ts";
import { REMOTE_HELP, remoteArguments, remoteOptions } from "./remote/options.ts";

export const devicesCommand = defineCommand({
  name: "devices",
  usage: "devices [TEXT]",
  summary: "list the devices of the networks",
  asksDaemon: true,
  options: { ...remoteOptions, offline: {} },
  parse(parsed, misuse): DevicesArguments {
    refuseOperands(parsed, 1, misuse);
    return {
      ...remoteArguments(parsed, misuse),
      search: parsed.positionals[0],
      offline: parsed.switches.has("offline"),
    };
  },
  async run(options, context) {
    const { devices } = await import("./remote/devices.ts");
    return devices(options, context);
  },
  help: `Lists the devices of the monitored networks, as last collected.

Usage:
  steward devices [OPTIONS] [TEXT]

TEXT is a part of a name, user, tag, address or operating system.

Options:
  --offline       only devices that are not connected
${REMOTE_HELP}
Examples:
  steward devices
  steward devices --offline
  steward devices tag:server --json

Exits 0 on success, 1 on failure, 2 on a usage error, 130 on Ctrl-C.
`,
});
