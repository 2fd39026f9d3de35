/** Declares `steward support-bundle`. */
import { defineCommand, refuseOperands } from "./command.ts";
import { REMOTE_HELP, remoteArguments, remoteOptions } from "./remote/options.ts";
import type { SupportBundleArguments } from "./remote/support-bundle.ts";

export const supportBundleCommand = defineCommand({
  name: "support-bundle",
  usage: "support-bundle",
  summary: "write diagnostics for a bug report",
  asksDaemon: true,
  options: { ...remoteOptions, "include-devices": {} },
  parse(parsed, misuse): SupportBundleArguments {
    refuseOperands(parsed, 1, misuse);
    return {
      ...remoteArguments(parsed, misuse),
      file: parsed.positionals[0] || undefined,
      devices: parsed.switches.has("include-devices"),
    };
  },
  async run(options, context) {
    const { supportBundle } = await import("./remote/support-bundle.ts");
    return supportBundle(options, context);
  },
  help: `Writes a ZIP file for a bug report: the status, the configuration without
secrets, and what happened lately. Read it before you pass it on.

Usage:
  steward support-bundle [OPTIONS] [FILE]

FILE must be new; default: steward-support-TIME.zip in this folder.

Options:
  --include-devices
                  include the names and addresses of devices
${REMOTE_HELP}
Examples:
  steward support-bundle
  steward support-bundle /tmp/steward.zip

Exits 0 on success, 1 on failure, 2 on a usage error, 130 on Ctrl-C.
`,
});
