/** Backups of the running daemon: nightly ones as configured, and those a command asks for. */
import { join, resolve } from "node:path";
import { systemClock } from "../kernel/base/clock.ts";
import { assert } from "../kernel/base/errors.ts";
import type { Log } from "../kernel/base/log.ts";
import {
  backupAt,
  backupEnabled,
  backupFolder,
  backupKeep,
} from "../kernel/state/backups/state-keys.ts";
import { runBackupProcess } from "../kernel/state/backups/backup-job.ts";
import { parseTimeOfDay } from "../kernel/state/backups/backup-times.ts";
import { checkRoom, createBackups } from "../kernel/state/backups/nightly-backups.ts";
import type { Component } from "../kernel/supervisor/component.ts";
import { backupLastSuccess, backupRuns } from "../kernel/telemetry/report/service-metrics.ts";
import type { Scope } from "../kernel/telemetry/types.ts";
import type { DaemonConfiguration } from "./configuration.ts";
import type { BackupRouteDeps } from "./listeners/backup-route.ts";
import { derivedStores, storesElsewhere } from "./stores.ts";
import { stewardVersion } from "./version.ts";

const MILLISECONDS = 1_000;

/**
 * Undefined when backups are off or this is a demo. `needs` names the components that own the
 * stores.
 */
export function nightlyBackups(
  configuration: DaemonConfiguration,
  log: Log,
  needs: readonly string[],
  scope: Pick<Scope, "observe" | "gauge" | "total">,
): Component[] {
  const { config, demo, stateDirectory } = configuration;
  if (demo.demo || !config.get(backupEnabled)) return [];
  const at = parseTimeOfDay(config.get(backupAt));
  assert(at !== undefined, "the time of the backup was validated");
  const folder = config.get(backupFolder);
  const backups = createBackups(
    { clock: systemClock, log, run: runBackupProcess },
    {
      directory: stateDirectory,
      target: folder === "" ? join(stateDirectory, "backups") : resolve(folder),
      at,
      keep: config.get(backupKeep),
      derived: derivedStores,
      elsewhere: () => storesElsewhere(configuration),
      version: stewardVersion(),
      needs,
    },
  );
  scope.observe(() => {
    const { succeeded, failed, newestMs } = backups.figures();
    scope.total(backupRuns, succeeded, { outcome: "success" });
    scope.total(backupRuns, failed, { outcome: "failure" });
    if (newestMs !== undefined) scope.gauge(backupLastSuccess, newestMs / MILLISECONDS, {});
  });
  return [backups];
}

/** The copy is made in the state folder; without a daemon the command copies to its target at once. */
const REMEDY =
  "free space on the disk of state.directory, or stop Steward and run the command again";

/** How the daemon makes a backup for `steward backup`. */
export function backupsByHand(
  configuration: DaemonConfiguration,
): Pick<BackupRouteDeps, "run" | "directory" | "job"> {
  const directory = configuration.stateDirectory;
  return {
    run: runBackupProcess,
    directory,
    job() {
      const folder = {
        directory,
        derived: derivedStores(),
        elsewhere: storesElsewhere(configuration),
      };
      checkRoom(directory, folder, REMEDY);
      return { ...folder, version: stewardVersion() };
    },
  };
}
