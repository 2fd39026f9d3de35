/** `steward rotate-key`: replaces the key that the store of tokens is sealed with. The daemon must not run. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { systemClock } from "../kernel/base/clock.ts";
import { StewardError } from "../kernel/base/errors.ts";
import { systemIds } from "../kernel/base/ids.ts";
import { createLog } from "../kernel/base/log.ts";
import type { Environment } from "../kernel/config/key.ts";
import { lockStateDirectory, type DirectoryLock } from "../kernel/state/directory-lock.ts";
import { lostStore } from "../kernel/state/known-stores.ts";
import { RESERVE_BYTES } from "../kernel/state/reserve.ts";
import { createStateFactory } from "../kernel/state/state-factory.ts";
import { rotateKey } from "../tokens/rotate-key.ts";
import { tokensStore } from "../tokens/stores.ts";
import type { RotateKeyArguments } from "./arguments.ts";
import { withFoundFile } from "./config-search.ts";
import { configureDaemon } from "./configuration.ts";
import { tokensOptionsOf } from "./tokens.ts";
import type { CommandOutput } from "./validate.ts";
import { stewardVersion } from "./version.ts";

/**
 * Runs the command; resolves with 0. Throws `conflict` naming the process that has the state folder, and what kept the key from being
 * replaced.
 */
export async function rotateKeyCommand(
  options: RotateKeyArguments, environment: Environment, output: CommandOutput,
): Promise<number> {
  const configuration = configureDaemon(withFoundFile(options, environment), environment);
  const directory = configuration.stateDirectory;
  // Looked at first, since taking a folder makes it.
  if (!existsSync(join(directory, `${tokensStore.name}.mdb`))) {
    throw lostStore(directory, tokensStore.name) ?? new StewardError("not_found", `${directory} holds no store of tokens`, {
      remedy: "name the daemon's configuration with --config",
    });
  }
  const write = (line: string): void => output.stderr(line);
  const log = createLog({ level: "error", format: "text", write, now: () => systemClock.now() });
  const lock = lockState(directory);
  try {
    const state = createStateFactory({
      directory, clock: systemClock, log, version: stewardVersion(), reserveBytes: RESERVE_BYTES, remembers: true,
    });
    const deps = { state, clock: systemClock, ids: systemIds, log, progress: (line: string): void => output.stderr(`${line}\n`) };
    const keyFile = options.keyFile === undefined ? undefined : resolve(options.keyFile);
    const rotation = { ...tokensOptionsOf(configuration, environment), keyFile };
    const { resumed, rows, keyFile: path } = await rotateKey(deps, rotation, new AbortController().signal);
    const what = resumed ? "ended the interrupted replacement: the key" : "the new key";
    output.stdout(`${what} of ${directory} is in ${path}; ${rows} rows were encrypted anew\n`);
    output.stdout("save a copy of it apart from the backups; earlier backups open by the former key only (docs/key-rotation.md)\n");
    return 0;
  } finally {
    lock.release();
  }
}

function lockState(directory: string): DirectoryLock {
  try {
    return lockStateDirectory(directory);
  } catch (error) {
    if (!(error instanceof StewardError) || error.code !== "conflict") throw error;
    const remedy = "stop the daemon, run steward rotate-key, and start it again";
    throw new StewardError("conflict", error.message, { rule: error.rule ?? "lock", remedy, cause: error });
  }
}
