/** All stores of the daemon: who checks or copies the state folder knows them from here. */
import { dedupStores } from "../dedup/stores.ts";
import type { EnvSpec } from "../kernel/state/types.ts";
import { monitorStores } from "../monitor/checkpoints/tables.ts";
import { tokensStores } from "../tokens/stores.ts";

/** The stores of every service, whether it runs or not. */
export const daemonStores: readonly Omit<EnvSpec, "directory">[] = [...monitorStores, ...dedupStores, ...tokensStores];

/** Names of those that are made anew from the others. */
export function derivedStores(): string[] {
  return daemonStores.filter(({ derived }) => derived).map(({ name }) => name);
}
