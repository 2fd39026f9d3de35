/** All stores of the daemon: who checks or copies the state folder knows them from here. */
import { resolve } from "node:path";
import { dedupStores } from "../dedup/stores.ts";
import { readKeyGroup } from "../kernel/config/key-group.ts";
import type { StoreLocation } from "../kernel/state/folder-backup.ts";
import type { EnvSpec } from "../kernel/state/types.ts";
import { checkpointPlace } from "../monitor/checkpoints/place.ts";
import { monitorStores } from "../monitor/checkpoints/tables.ts";
import { checkpoint } from "../monitor/config/upkeep-keys.ts";
import { tokensStores } from "../tokens/stores.ts";
import type { DaemonConfiguration } from "./configuration.ts";

/** The stores of every service, whether it runs or not. */
export const daemonStores: readonly Omit<EnvSpec, "directory">[] = [
  ...monitorStores,
  ...dedupStores,
  ...tokensStores,
];

/** Stores that the configuration puts outside of the state folder: they belong to its backups. */
export function storesElsewhere({
  config,
  stateDirectory,
}: Pick<DaemonConfiguration, "config" | "stateDirectory">): StoreLocation[] {
  const { store, filePath } = readKeyGroup(config, checkpoint);
  if (store === "memory" || filePath === "") return [];
  const { directory, name } = checkpointPlace(resolve(filePath));
  return directory === resolve(stateDirectory) ? [] : [{ directory, name }];
}

/** Names of those that are made anew from the others. */
export function derivedStores(): string[] {
  return daemonStores.filter(({ derived }) => derived).map(({ name }) => name);
}
