/**
 * Stores a GitHub App in a new store of tokens, as a write to `github/config` does: sealed, and
 * recorded in the audit file.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import { Secret } from "../../kernel/base/secret.ts";
import type { Environment } from "../../kernel/config/key.ts";
import type { DaemonConfiguration } from "../../daemon/configuration.ts";
import { openTokens, type Tokens } from "../../tokens/service.ts";
import { tokensStore } from "../../tokens/stores.ts";
import type { CommandOutput } from "../command.ts";
import { withHeldTokens } from "../stopped-tokens.ts";
import { configOf, type GitHubApp } from "./check-app.ts";
import { MOUNT } from "./tokens.ts";

const CLOSE_MS = 5_000;

export interface StoredApp {
  /** The first root token of the Vault API. It is valid even when the app could not be stored. */
  readonly root: Secret;
  readonly failure: StewardError | undefined;
}

/** Whether a store exists already: only its own root token may change it. */
export function hasTokens({ stateDirectory }: DaemonConfiguration): boolean {
  return existsSync(join(stateDirectory, `${tokensStore.name}.mdb`));
}

/** Throws what keeps the store from being made, e.g. `conflict` while a daemon runs on the folder. */
export async function storeApp(
  app: GitHubApp,
  configuration: DaemonConfiguration,
  {
    environment,
    output,
    signal,
  }: {
    readonly environment: Environment;
    readonly output: CommandOutput;
    readonly signal: AbortSignal;
  },
): Promise<StoredApp> {
  return await withHeldTokens(configuration, environment, { output }, async ({ deps, options }) => {
    const tokens = await openTokens(deps, options, signal);
    try {
      const root = await firstRoot(tokens);
      const failure = await write(tokens, { app, root, signal });
      return { root, failure };
    } finally {
      await tokens.close(CLOSE_MS);
    }
  });
}

async function firstRoot(tokens: Tokens): Promise<Secret> {
  const { promise, resolve } = Promise.withResolvers<Secret | undefined>();
  await tokens.showRoot((token) => {
    resolve(Secret.of(token, "root token"));
    return true;
  });
  resolve(undefined);
  const root = await promise;
  if (root === undefined)
    throw new StewardError(
      "conflict",
      "the store of tokens is sealed, or has a root token already",
    );
  return root;
}

async function write(
  tokens: Tokens,
  { app, root, signal }: Pick<StoredApp, "root"> & { app: GitHubApp; signal: AbortSignal },
): Promise<StewardError | undefined> {
  try {
    await tokens.gate.handle({
      verb: "write",
      path: `${MOUNT}config`,
      data: configOf(app),
      token: root,
      remote: undefined,
      wrapTtlMs: undefined,
      signal,
    });
    return undefined;
  } catch (error) {
    return toStewardError(error);
  }
}
