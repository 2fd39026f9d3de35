/** All stores of the daemon, for backups and checks of the state directory. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { dedupStores } from "../dedup/stores.ts";
import type { Config } from "../kernel/config/config.ts";
import { readKeyGroup } from "../kernel/config/key-group.ts";
import { storeNames, type StoreLocation } from "../kernel/state/backups/folder-backup.ts";
import type { EnvSpec } from "../kernel/state/types.ts";
import { checkpointLocation } from "../monitor/checkpoints/location.ts";
import { monitorStores } from "../monitor/checkpoints/tables.ts";
import { ingressOptions, ingressWal } from "../monitor/ingress/config/ingress-keys.ts";
import { INGRESS_STORE, ingressStore } from "../monitor/ingress/tables.ts";
import { flowDirectory, flowDisk } from "../monitor/config/flow-keys.ts";
import { FLOW_STORE_NAME } from "../monitor/flowstore/disk/names.ts";
import { flowStoreSpec } from "../monitor/flowstore/disk/tables.ts";
import { checkpoint } from "../monitor/config/upkeep-keys.ts";
import { tokensStores } from "../tokens/stores.ts";
import { historyStore } from "./history/count-tables.ts";
import type { DaemonConfiguration } from "./configuration.ts";

/** Stores of every service, running or not, but those of flows: their names have a digest. */
export const daemonStores: readonly Omit<EnvSpec, "directory">[] = [
  ...monitorStores,
  ingressStore(ingressWal.maxBytes.default),
  ...dedupStores,
  ...tokensStores,
  historyStore,
];

/** Specifications of all stores that a state folder, or a backup, may hold. */
export function knownStores(directory: string): Omit<EnvSpec, "directory">[] {
  const flows = flowStoresIn(directory).map((name) =>
    flowStoreSpec(name, flowDisk.maxRows.default),
  );
  return [...daemonStores, ...flows];
}

/** Stores that are not in the state directory itself. Backups include them. */
export function storesElsewhere({
  config,
  stateDirectory,
}: Pick<DaemonConfiguration, "config" | "stateDirectory">): StoreLocation[] {
  return [
    ...checkpointsElsewhere(config, stateDirectory),
    ...ingressLog(config, stateDirectory),
    ...flowStores(config),
  ];
}

/** Also of networks that are not configured any more. */
function flowStores(config: Config): StoreLocation[] {
  const directory = flowDirectory(config);
  if (directory === undefined) return [];
  return flowStoresIn(directory).map((name) => ({ directory, name }));
}

function flowStoresIn(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return storeNames(directory).filter((name) => FLOW_STORE_NAME.test(name));
}

function checkpointsElsewhere(config: Config, stateDirectory: string): StoreLocation[] {
  const { store, evidenceStore, filePath } = readKeyGroup(config, checkpoint);
  if ((store === "memory" && evidenceStore === "memory") || filePath === "") return [];
  const { directory, name } = checkpointLocation(resolve(filePath));
  return directory === resolve(stateDirectory) ? [] : [{ directory, name }];
}

function ingressLog(config: Config, stateDirectory: string): StoreLocation[] {
  const options = ingressOptions(config, stateDirectory);
  return options === undefined ? [] : [{ directory: options.directory, name: INGRESS_STORE }];
}

/** Names of stores that can be rebuilt from others. */
export function derivedStores(): string[] {
  return daemonStores.filter(({ derived }) => derived).map(({ name }) => name);
}
