/**
 * `steward backup DIR`: copies all stores of the state folder as they stand together at one moment.
 * A running daemon makes the copy and goes on; a backup is a state folder that it can be started
 * with.
 */
import { resolve } from "node:path";
import { systemClock } from "../kernel/base/clock.ts";
import { StewardError } from "../kernel/base/errors.ts";
import type { Environment } from "../kernel/config/key.ts";
import {
  backupFolder,
  prepareTarget,
  type BackupManifest,
  type FolderBackupOptions,
} from "../kernel/state/backups/folder-backup.ts";
import { copyBackup } from "../kernel/state/backups/staged-backup.ts";
import { SOLE_PROCESS } from "../kernel/state/folder/directory-lock.ts";
import { withFoundFile } from "./config-search.ts";
import { withStagedBackup } from "./owner-call.ts";
import {
  configureDaemon,
  type DaemonArguments,
  type DaemonConfiguration,
} from "../daemon/configuration.ts";
import { mebibytes } from "./report/size.ts";
import { derivedStores, storesElsewhere } from "../daemon/stores.ts";
import type { CommandOutput } from "./command.ts";
import { stewardVersion } from "../daemon/version.ts";

export interface BackupArguments extends DaemonArguments {
  /** The folder to make or to fill; it must be empty. */
  readonly target: string;
}

const INTERRUPTED = 130;

/**
 * Runs the command; resolves with 0, or 130 after Ctrl-C. Throws what made it fail; the target then
 * holds no copy.
 */
export async function backup(
  options: BackupArguments,
  environment: Environment,
  output: CommandOutput,
): Promise<number> {
  const configuration = configureDaemon(withFoundFile(options, environment), environment);
  const { stateDirectory } = configuration;
  const interrupt = new AbortController();
  const onSignal = (): void => interrupt.abort(new StewardError("cancelled", "interrupted"));
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  try {
    const { stores, leftOut } = await makeBackup(configuration, {
      target: resolve(options.target),
      signal: interrupt.signal,
      copied: ({ file, bytes, rows }) =>
        output.stdout(`${file}: ${mebibytes(bytes)}, ${rowCount(rows)} rows\n`),
    });
    for (const name of leftOut) output.stdout(`${name}.mdb: not included, Steward rebuilds it\n`);
    output.stdout(
      `backup of ${stateDirectory} complete: ${stores.length} ${stores.length === 1 ? "store" : "stores"}, ${mebibytes(stores.reduce((sum, { bytes }) => sum + bytes, 0))} in ${resolve(options.target)}\n`,
    );
    return 0;
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    output.stderr("steward backup: interrupted; nothing was kept\n");
    return INTERRUPTED;
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  }
}

/** Copies the folder itself, or has the daemon copy that uses it. */
async function makeBackup(
  configuration: DaemonConfiguration,
  to: Pick<FolderBackupOptions, "target" | "signal" | "copied">,
): Promise<BackupManifest> {
  const { stateDirectory } = configuration;
  try {
    return await backupFolder({
      ...to,
      directory: stateDirectory,
      derived: derivedStores(),
      elsewhere: storesElsewhere(configuration),
      version: stewardVersion(),
      clock: systemClock,
    });
  } catch (error) {
    if (!(error instanceof StewardError) || error.rule !== SOLE_PROCESS) throw error;
  }
  // Before the daemon begins for nothing.
  prepareTarget(to.target);
  return await withStagedBackup(stateDirectory, to.signal, async (staged) => {
    await copyBackup(staged, to);
    return staged.manifest;
  });
}

function rowCount(rows: Readonly<Record<string, number>>): number {
  return Object.values(rows).reduce((sum, count) => sum + count, 0);
}
