/** All commands, in the order of the general help. The daemon is what starts without one. */
import { backupCommand } from "./backup-command.ts";
import { checkCommand } from "./check-command.ts";
import { completionCommand } from "./completion-command.ts";
import type { Command } from "./command.ts";
import { configSchemaCommand } from "./config-schema-command.ts";
import { dedupCommand } from "./dedup-command.ts";
import { devicesCommand } from "./devices-command.ts";
import { doctorCommand } from "./doctor-command.ts";
import { eventsCommand } from "./events-command.ts";
import { flowsCommand } from "./flows-command.ts";
import { duplicatesCommand } from "./duplicates-command.ts";
import { initCommand } from "./init-command.ts";
import { jobsCommand } from "./jobs-command.ts";
import { leasesCommand } from "./leases-command.ts";
import { migrateConfigCommand } from "./migrate-config-command.ts";
import { mintCommand } from "./mint-command.ts";
import { pluginCommand } from "./plugin-command.ts";
import { signCommand } from "./sign-command.ts";
import { rootTokenCommand } from "./root-token-command.ts";
import { rotateKeyCommand } from "./rotate-key-command.ts";
import { statusCommand } from "./status-command.ts";
import { supportBundleCommand } from "./support-bundle-command.ts";
import { syncCommand } from "./sync-command.ts";
import { verifyCommand } from "./verify-command.ts";
import { versionCommand } from "./version-command.ts";

export const allCommands: readonly Command[] = [
  dedupCommand,
  signCommand,
  verifyCommand,
  pluginCommand,
  backupCommand,
  checkCommand,
  rootTokenCommand,
  rotateKeyCommand,
  initCommand,
  configSchemaCommand,
  migrateConfigCommand,
  completionCommand(() => allCommands),
  versionCommand,
  statusCommand,
  doctorCommand,
  syncCommand,
  jobsCommand,
  duplicatesCommand,
  devicesCommand,
  flowsCommand,
  eventsCommand,
  mintCommand,
  leasesCommand,
  supportBundleCommand,
];
