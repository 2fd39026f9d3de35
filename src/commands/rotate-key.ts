/**
 * `steward rotate-key`: replaces the key that the store of tokens is sealed with. The daemon must
 * not run.
 */
import { resolve } from "node:path";
import type { Environment } from "../kernel/config/key.ts";
import { rotateKey } from "../tokens/rotate-key.ts";
import { withStoppedTokens } from "./stopped-tokens.ts";
import type { DaemonArguments } from "../daemon/configuration.ts";
import type { CommandOutput } from "./command.ts";

/** Arguments of `steward rotate-key`. */
export interface RotateKeyArguments extends DaemonArguments {
  /** Holds the key in place of the file that the configuration names. */
  readonly keyFile: string | undefined;
}

const TEXTS = {
  command: "rotate-key",
  missing: "name the daemon's configuration with --config",
  running: "stop the daemon, run steward rotate-key, and start it again",
};

/**
 * Runs the command; resolves with 0. Throws `conflict` naming the process that has the state
 * folder, and what kept the key from being replaced.
 */
export async function replaceKey(
  options: RotateKeyArguments,
  environment: Environment,
  output: CommandOutput,
): Promise<number> {
  return await withStoppedTokens(
    options,
    environment,
    { output, texts: TEXTS },
    async ({ deps, options: tokens }) => {
      const keyFile = options.keyFile === undefined ? undefined : resolve(options.keyFile);
      const progress = (line: string): void => output.stderr(`${line}\n`);
      const {
        resumed,
        rows,
        keyFile: path,
      } = await rotateKey(
        { ...deps, progress },
        { ...tokens, keyFile },
        new AbortController().signal,
      );
      const what = resumed ? "finished the interrupted replacement: the key" : "the new key";
      output.stdout(
        `${what} of ${tokens.directory} is in ${path}; ${rows} rows were re-encrypted\n`,
      );
      output.stdout(
        "save a copy of it apart from the backups; older backups can be read only with the former key (docs/key-rotation.md)\n",
      );
      return 0;
    },
  );
}
