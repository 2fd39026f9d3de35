/** All commands, in the order of the general help. The daemon is what starts without one. */
import { backupCommand } from "./backup-command.ts";
import { checkCommand } from "./check-command.ts";
import type { Command } from "./command.ts";
import { dedupCommand } from "./dedup-command.ts";
import { signCommand } from "./sign-command.ts";
import { rootTokenCommand } from "./root-token-command.ts";
import { rotateKeyCommand } from "./rotate-key-command.ts";
import { verifyCommand } from "./verify-command.ts";
import { versionCommand } from "./version-command.ts";

export const allCommands: readonly Command[] = [
  dedupCommand,
  signCommand,
  verifyCommand,
  backupCommand,
  checkCommand,
  rootTokenCommand,
  rotateKeyCommand,
  versionCommand,
];
