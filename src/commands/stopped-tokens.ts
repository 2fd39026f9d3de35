/** The store of tokens for commands that work on it while no daemon runs. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../kernel/base/clock.ts";
import { StewardError } from "../kernel/base/errors.ts";
import { systemIds } from "../kernel/base/ids.ts";
import { createLog } from "../kernel/base/log.ts";
import type { Environment } from "../kernel/config/key.ts";
import { lockStateDirectory } from "../kernel/state/folder/directory-lock.ts";
import { lostStore } from "../kernel/state/folder/known-stores.ts";
import { RESERVE_BYTES } from "../kernel/state/folder/reserve.ts";
import { createStateFactory } from "../kernel/state/state-factory.ts";
import type { TokensDeps, TokensOptions } from "../tokens/service.ts";
import { tokensStore } from "../tokens/stores.ts";
import type { DaemonArguments } from "../daemon/configuration.ts";
import { withFoundFile } from "./config-search.ts";
import { configureDaemon, type DaemonConfiguration } from "../daemon/configuration.ts";
import { tokensOptionsOf } from "../daemon/services/tokens.ts";
import type { CommandOutput } from "./command.ts";
import { stewardVersion } from "../daemon/version.ts";

/** A state directory locked by this process, and the tokens service's configuration. */
export interface StoppedTokens {
  readonly deps: Omit<TokensDeps, "observe">;
  readonly options: TokensOptions;
}

/** Texts of one command. */
export interface StoppedTokensTexts {
  /** Its name. */
  readonly command: string;
  /** Remedy when the state folder holds no store of tokens. */
  readonly missing: string;
  /** Remedy when a daemon runs on the folder; the lock's own unless given. */
  readonly running?: string;
}

/**
 * Holds the state folder while `use` runs. Throws `not_found` when it holds no store of tokens,
 * `denied` when that belongs to another user, and `conflict` naming the process that has the folder.
 */
export async function withStoppedTokens<T>(
  options: DaemonArguments,
  environment: Environment,
  { output, texts }: { readonly output: CommandOutput; readonly texts: StoppedTokensTexts },
  use: (tokens: StoppedTokens) => Promise<T>,
): Promise<T> {
  const configuration = configureDaemon(withFoundFile(options, environment), environment);
  const { stateDirectory: directory } = configuration;
  const store = join(directory, `${tokensStore.name}.mdb`);
  // Looked at first, since taking a folder makes it.
  if (!existsSync(store)) {
    throw (
      lostStore(directory, tokensStore.name) ??
      new StewardError("not_found", `${directory} holds no store of tokens`, {
        remedy: texts.missing,
      })
    );
  }
  assertOwner(store, texts.command);
  return await withHeldTokens(configuration, environment, { output, running: texts.running }, use);
}

/** Files that another user creates or takes over in the folder are closed to Steward's user. */
function assertOwner(store: string, command: string): void {
  const user = process.geteuid?.();
  const { uid } = statSync(store);
  if (user === undefined || uid === user) return;
  throw new StewardError("denied", `${store} belongs to user ${uid}, this is user ${user}`, {
    rule: "user",
    remedy:
      `run it as Steward's user: sudo -u '#${uid}' steward ${command}, or, as root, ` +
      `runuser -u NAME -- steward ${command}; a unit with DynamicUser: docs/systemd.md`,
  });
}

/**
 * The same for a folder that may hold no store of tokens yet. Throws `conflict` naming the process
 * that has it.
 */
export async function withHeldTokens<T>(
  configuration: DaemonConfiguration,
  environment: Environment,
  { output, running }: { readonly output: CommandOutput; readonly running?: string | undefined },
  use: (tokens: StoppedTokens) => Promise<T>,
): Promise<T> {
  const { stateDirectory: directory } = configuration;
  const log = createLog({
    level: "error",
    format: "text",
    write: (line) => output.stderr(line),
    now: () => systemClock.now(),
  });
  const lock = takeLock(directory, running);
  try {
    const state = createStateFactory({
      directory,
      clock: systemClock,
      log,
      version: stewardVersion(),
      reserveBytes: RESERVE_BYTES,
      remembers: true,
    });
    return await use({
      deps: { state, clock: systemClock, ids: systemIds, log },
      options: tokensOptionsOf(configuration, environment),
    });
  } finally {
    lock.release();
  }
}

function takeLock(
  directory: string,
  remedy: string | undefined,
): ReturnType<typeof lockStateDirectory> {
  try {
    return lockStateDirectory(directory);
  } catch (error) {
    if (remedy === undefined || !(error instanceof StewardError) || error.code !== "conflict")
      throw error;
    throw new StewardError("conflict", error.message, {
      rule: error.rule ?? "lock",
      remedy,
      cause: error,
    });
  }
}
