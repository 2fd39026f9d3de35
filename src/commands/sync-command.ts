/** Declares `steward sync`. */
import { defineCommand, refuseOperands } from "./command.ts";
import type { SyncArguments } from "./remote/jobs.ts";
import { REMOTE_HELP, remoteArguments, remoteOptions } from "./remote/options.ts";

export const syncCommand = defineCommand({
  name: "sync",
  usage: "sync",
  summary: "read the archives again",
  asksDaemon: true,
  options: { ...remoteOptions, force: {}, follow: { short: "f" } },
  parse(parsed, misuse): SyncArguments {
    refuseOperands(parsed, 0, misuse);
    const { switches } = parsed;
    return {
      ...remoteArguments(parsed, misuse),
      force: switches.has("force"),
      follow: switches.has("follow"),
    };
  },
  async run(options, context) {
    const { sync } = await import("./remote/jobs.ts");
    return sync(options, context);
  },
  help: `Has the daemon read its archives: new, changed and removed documents. The
analysis then starts automatically when something changed.

Usage:
  steward sync [OPTIONS]

Options:
  --force         read every document again, and believe it when most are gone
  --follow        or -f: print the progress until the sync ends; with --json,
                  one object a line
${REMOTE_HELP}
Examples:
  steward sync --follow
  steward sync --force

Exits 0 on success, 1 on failure or when a sync that was followed did not
complete, 2 on a usage error, 130 on Ctrl-C.
`,
});
