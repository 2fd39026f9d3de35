/** Declares `steward check`. */
import type { CheckArguments } from "./check.ts";
import { defineCommand, refuseOperands, stateArguments, stateOptions } from "./command.ts";

export const checkCommand = defineCommand({
  name: "check",
  usage: "check [DIR]",
  summary: "check the state or a backup for corruption",
  options: stateOptions,
  parse: (parsed, misuse): CheckArguments => {
    const [directory] = parsed.positionals;
    if (directory === "") throw misuse("DIR must not be empty");
    refuseOperands(parsed, 1, misuse);
    return { ...stateArguments(parsed), directory };
  },
  async run(options, { environment, output }) {
    const { check } = await import("./check.ts");
    return check(options, environment, output);
  },
  help: `Checks the state folder or a backup for corruption.

Usage:
  steward check [OPTIONS] [DIR]

DIR is a state folder or a backup; without it, the state folder of the
configuration. Nothing is changed. The daemon must not be using it.

Options:
  --config FILE   the daemon's configuration, which says where the state folder
                  is; without it, the file that the daemon would find
  --demo          check the state of the demo
  --help          print this text

Examples:
  steward check
  steward check /var/backups/steward/2026-02-03

Exits 0 when no damage was found; 1 when a store has to be restored from a
backup, needs a newer Steward or could not be read; 3 when the next start
repairs the damage; 2 on a usage error, 130 on Ctrl-C.
`,
});
