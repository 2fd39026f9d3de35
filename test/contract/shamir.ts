/** A daemon whose store is sealed by key shares, for tests that initialise and unseal it. */
import { onTestFinished } from "vitest";
import type { CodeHost } from "../../src/demo/code-host/code-host.ts";
import { temporaryFolder } from "./daemon.ts";
import { startCodeHost, startVault, type VaultAnswer, type VaultDaemon } from "./vault.ts";

/** Configuration of such a store. */
export const SHAMIR = "tokens: { seal: { type: shamir } }";

/** What `sys/init` returned. */
export interface Holders {
  readonly keys: readonly string[];
  readonly keys_base64: readonly string[];
  readonly root_token: string;
}

export async function startShamir(
  state: string = temporaryFolder(),
  root = "",
): Promise<VaultDaemon> {
  return await startVault({ state, config: SHAMIR, root });
}

/** Sends without a token. */
export function open(
  vault: VaultDaemon,
  method: string,
  path: string,
  body?: unknown,
): Promise<VaultAnswer> {
  return vault.ask(method, path, { token: "", ...(body === undefined ? {} : { body }) });
}

export async function initialize(
  vault: VaultDaemon,
  { shares = 5, threshold = 3 }: { readonly shares?: number; readonly threshold?: number } = {},
): Promise<Holders> {
  const answer = await open(vault, "PUT", "sys/init", {
    secret_shares: shares,
    secret_threshold: threshold,
  });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.json as Holders;
}

/** Gives these shares; the last answer. */
export async function unseal(
  vault: VaultDaemon,
  keys: readonly (string | undefined)[],
): Promise<VaultAnswer> {
  let answer: VaultAnswer | undefined;
  for (const key of keys) answer = await open(vault, "PUT", "sys/unseal", { key });
  if (answer === undefined) throw new Error("no share was given");
  return answer;
}

/** An initialised and unsealed store. */
export async function startUnsealed(
  terms: { readonly shares?: number; readonly threshold?: number } = {},
): Promise<{ readonly vault: VaultDaemon; readonly holders: Holders }> {
  const bare = await startShamir();
  const holders = await initialize(bare, terms);
  await unseal(bare, holders.keys.slice(0, terms.threshold ?? 3));
  const root = holders.root_token;
  return {
    holders,
    vault: {
      ...bare,
      root,
      ask: (method, path, asking = {}) => bare.ask(method, path, { token: root, ...asking }),
    },
  };
}

/** Stops the daemon when the test ends. */
export function stopAtEnd(vault: VaultDaemon): VaultDaemon {
  onTestFinished(async () => void (await vault.daemon.stop()));
  return vault;
}

/** `startUnsealed` for one test. */
export async function unsealed(terms = {}): Promise<Awaited<ReturnType<typeof startUnsealed>>> {
  const started = await startUnsealed(terms);
  stopAtEnd(started.vault);
  return started;
}

/** A code host for one test. */
export async function startHost(): Promise<CodeHost> {
  const host = await startCodeHost();
  onTestFinished(() => host.stop());
  return host;
}

export const sealStatus = async (vault: VaultDaemon): Promise<Record<string, unknown>> =>
  (await open(vault, "GET", "sys/seal-status")).json as Record<string, unknown>;
