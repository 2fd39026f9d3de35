/**
 * `steward root-token`: makes a root token of the Vault API when the first one was lost, and prints
 * it. The daemon must not run.
 */
import type { Environment } from "../kernel/config/key.ts";
import { makeRootToken } from "../tokens/root-token.ts";
import type { DaemonArguments } from "../daemon/configuration.ts";
import { withStoppedTokens } from "./stopped-tokens.ts";
import type { CommandOutput } from "./command.ts";

const TEXTS = {
  command: "root-token",
  missing:
    "name the daemon's configuration with --config, or start the daemon, which prints a root token at its first start",
};

/**
 * Runs the command; resolves with 0. Throws `conflict` naming the process that has the state
 * folder, and what kept the token from being made.
 */
export async function rootToken(
  options: DaemonArguments,
  environment: Environment,
  output: CommandOutput,
): Promise<number> {
  const token = await withStoppedTokens(options, environment, { output, texts: TEXTS }, (tokens) =>
    makeRootToken(tokens.deps, tokens.options, new AbortController().signal),
  );
  token.use((value) => output.stdout(`${value}\n`));
  return 0;
}
