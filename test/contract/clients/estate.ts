/**
 * A daemon and a code host for a test file whose foreign client is told nothing but where they are.
 */
import { afterAll, beforeAll } from "vitest";
import type { CodeHost } from "../../../src/demo/code-host/code-host.ts";
import { removeTemporaryFolders } from "../daemon.ts";
import { appKey, startCodeHost, startVault, type VaultDaemon } from "../vault.ts";

/** Both, from the file's first test to its last. */
export interface Estate {
  readonly host: CodeHost;
  readonly vault: VaultDaemon;
  /** What every client of Vault reads from its environment, and what the engine is to mint at. */
  clientEnvironment(): Readonly<Record<string, string>>;
}

/** Starts both before the tests of the file and stops them after. */
export function useEstate(): Estate {
  let running: { readonly host: CodeHost; readonly vault: VaultDaemon } | undefined;
  beforeAll(async () => {
    const host = await startCodeHost();
    running = { host, vault: await startVault() };
  });
  afterAll(async () => {
    await running?.vault.daemon.stop();
    await running?.host.stop();
    removeTemporaryFolders();
  });
  const now = (): { readonly host: CodeHost; readonly vault: VaultDaemon } => {
    if (running === undefined) throw new Error("not started yet");
    return running;
  };
  return {
    get host() {
      return now().host;
    },
    get vault() {
      return now().vault;
    },
    clientEnvironment: () => ({
      VAULT_ADDR: now().vault.daemon.url,
      VAULT_TOKEN: now().vault.root,
      CODE_HOST: now().host.url,
      APP_KEY: appKey.privateKey,
    }),
  };
}
