/** Keys of the state: its folder and the nightly backups. */
import { defineKey, type Environment, type Schema } from "../../config/key.ts";
import { boolean, integer, path, string } from "../../config/values/types.ts";
import { parseTimeOfDay } from "./backup-times.ts";

/** The folder of all persistent state. */
export const stateFolder = defineKey({
  path: "state.directory",
  type: path,
  default: "",
  defaultFrom: defaultStateFolder,
  rule: (folder) =>
    folder === ""
      ? {
          rule: "is not known: neither STATE_DIRECTORY, XDG_STATE_HOME nor HOME is set",
          remedy: "set STEWARD_STATE__DIRECTORY.",
        }
      : undefined,
  help: "Folder for all state, mode 0700, used by one process at a time. Default $STATE_DIRECTORY, else $XDG_STATE_HOME/steward, else ~/.local/state/steward.",
});

export const backupEnabled = defineKey({
  path: "state.backup.enabled",
  type: boolean,
  default: true,
  help: "Backs up all stores every night while Steward runs, and verifies the copy. The demo makes no backups.",
});

export const backupFolder = defineKey({
  path: "state.backup.directory",
  type: path,
  default: "",
  help: "Folder for backups, with one subfolder each. Empty: the folder backups in state.directory. Backups on another disk survive the loss of this disk.",
});

export const backupAt = defineKey({
  path: "state.backup.at",
  type: string,
  default: "03:30",
  rule: (at) =>
    parseTimeOfDay(at) === undefined
      ? {
          rule: `must be a time of day, got ${JSON.stringify(at)}`,
          remedy: "write 24 hours with two digits each, e.g. 03:30.",
        }
      : undefined,
  help: "Local time of day of the backup. A missed backup is made ten minutes after the next start.",
});

export const backupKeep = defineKey({
  path: "state.backup.keep",
  type: integer(1, 1_000),
  default: 7,
  help: "Number of complete backups to keep; older ones are deleted after a new one has been verified.",
});

export const stateKeys: Schema = [stateFolder, backupEnabled, backupFolder, backupAt, backupKeep];

// systemd may pass several folders, separated by colons; the first one is used. XDG requires
// ignoring relative paths.
function defaultStateFolder(environment: Environment): string {
  const fromSystemd = environment["STATE_DIRECTORY"]?.split(":")[0];
  if (fromSystemd) return fromSystemd;
  const xdg = environment["XDG_STATE_HOME"];
  if (xdg?.startsWith("/") === true) return `${xdg.replace(/\/+$/, "")}/steward`;
  const home = environment["HOME"];
  return home ? `${home.replace(/\/+$/, "")}/.local/state/steward` : "";
}
