/** Declares `steward backup`. */
import type { BackupArguments } from "./backup.ts";
import { defineCommand, refuseOperands, stateArguments, stateOptions } from "./command.ts";

export const backupCommand = defineCommand({
  name: "backup",
  usage: "backup DIR",
  summary: "back up the state folder; the daemon may run",
  options: stateOptions,
  parse: (parsed, misuse): BackupArguments => {
    const [target] = parsed.positionals;
    if (target === undefined || target === "")
      throw misuse("DIR is needed: a new or an empty folder");
    refuseOperands(parsed, 1, misuse);
    return { ...stateArguments(parsed), target };
  },
  async run(options, { environment, output }) {
    const { backup } = await import("./backup.ts");
    return backup(options, environment, output);
  },
  help: `Makes a consistent backup of the state folder.

Usage:
  steward backup [OPTIONS] DIR

DIR is created when it is missing and must be empty. A daemon that runs goes on:
it makes the copy in its state folder, which needs the room, and the command
takes it to DIR. Data that Steward can rebuild is left out. To restore, stop the
daemon and copy the files of DIR into an empty state folder.

Options:
  --config FILE   the daemon's configuration, which says where the state folder
                  is; without it, the file that the daemon would find
  --demo          back up the state of the demo
  --help          print this text

Examples:
  steward backup /var/backups/steward/2026-02-03
  steward backup --config steward.yaml /mnt/backup

The file manifest.json is written last: without it a backup is incomplete. Exits
0 on success, 1 on failure, 2 on a usage error, 130 on Ctrl-C.
`,
});
