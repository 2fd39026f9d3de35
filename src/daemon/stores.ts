/** All stores of the daemon, for backups and checks of the state directory. */
import { resolve } from "node:path";
import { dedupStores } from "../dedup/stores.ts";
import { readKeyGroup } from "../kernel/config/key-group.ts";
import type { StoreLocation } from "../kernel/state/backups/folder-backup.ts";
import type { EnvSpec } from "../kernel/state/types.ts";
import { checkpointLocation } from "../monitor/checkpoints/location.ts";
import { monitorStores } from "../monitor/checkpoints/tables.ts";
import { checkpoint } from "../monitor/config/upkeep-keys.ts";
import { tokensStores } from "../tokens/stores.ts";
import type { DaemonConfiguration } from "./configuration.ts";

/** Stores of every service, running or not. */
export const daemonStores: readonly Omit<EnvSpec, "directory">[] = [
  ...monitorStores,
  ...dedupStores,
  ...tokensStores,
];

/** Stores that the configuration puts outside the state directory. Backups include them. */
export function storesElsewhere({
  config,
  stateDirectory,
}: Pick<DaemonConfiguration, "config" | "stateDirectory">): StoreLocation[] {
  const { store, filePath } = readKeyGroup(config, checkpoint);
  if (store === "memory" || filePath === "") return [];
  const { directory, name } = checkpointLocation(resolve(filePath));
  return directory === resolve(stateDirectory) ? [] : [{ directory, name }];
}

/** Names of stores that can be rebuilt from others. */
export function derivedStores(): string[] {
  return daemonStores.filter(({ derived }) => derived).map(({ name }) => name);
}
