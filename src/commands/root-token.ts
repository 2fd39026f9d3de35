/** `steward root-token`: makes a root token of the Vault API when the first one was lost, and prints it. The daemon must not run. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../kernel/base/clock.ts";
import { StewardError } from "../kernel/base/errors.ts";
import { systemIds } from "../kernel/base/ids.ts";
import { createLog } from "../kernel/base/log.ts";
import type { Environment } from "../kernel/config/key.ts";
import { lockStateDirectory } from "../kernel/state/directory-lock.ts";
import { lostStore } from "../kernel/state/known-stores.ts";
import { RESERVE_BYTES } from "../kernel/state/reserve.ts";
import { createStateFactory } from "../kernel/state/state-factory.ts";
import { makeRootToken } from "../tokens/root-token.ts";
import { tokensStore } from "../tokens/stores.ts";
import type { RootTokenArguments } from "./arguments.ts";
import { withFoundFile } from "./config-search.ts";
import { configureDaemon } from "./configuration.ts";
import { tokensOptionsOf } from "./tokens.ts";
import type { CommandOutput } from "./validate.ts";
import { stewardVersion } from "./version.ts";

/** Runs the command; resolves with 0. Throws `conflict` naming the process that has the state folder, and what kept the token from being made. */
export async function rootToken(options: RootTokenArguments, environment: Environment, output: CommandOutput): Promise<number> {
  const configuration = configureDaemon(withFoundFile(options, environment), environment);
  const directory = configuration.stateDirectory;
  // Looked at first, since taking a folder makes it.
  if (!existsSync(join(directory, `${tokensStore.name}.mdb`))) {
    throw lostStore(directory, tokensStore.name) ?? new StewardError("not_found", `${directory} holds no store of tokens`, { remedy: "name the daemon's configuration with --config, or start the daemon, which shows a root token at its first start" });
  }
  const log = createLog({ level: "error", format: "text", write: (line) => output.stderr(line), now: () => systemClock.now() });
  const lock = lockStateDirectory(directory);
  try {
    const state = createStateFactory({ directory, clock: systemClock, log, version: stewardVersion(), reserveBytes: RESERVE_BYTES, remembers: true });
    const token = await makeRootToken({ state, clock: systemClock, ids: systemIds, log }, tokensOptionsOf(configuration, environment), new AbortController().signal);
    token.use((value) => output.stdout(`${value}\n`));
    return 0;
  } finally {
    lock.release();
  }
}
