/**
 * Turns the command line into what is to be done; wrong use is one line that names the problem and
 * the nearest right word.
 */
import { nearest } from "../kernel/base/text/nearest.ts";
import { allCommands } from "./all-commands.ts";
import { misuseOf, quote, type Command, type Invocation } from "./command.ts";
import { daemonOptions, generalHelp, parseDaemonMode } from "./daemon-command.ts";
import { readOptions } from "./read-options.ts";

/** Names that other programs use for the command that starts their daemon. */
const DAEMON_WORDS: ReadonlySet<string> = new Set([
  "serve",
  "server",
  "run",
  "start",
  "daemon",
  "agent",
]);
const HELP = "help";
const commandNames: readonly string[] = [...allCommands.map(({ name }) => name), HELP];
const daemon = { name: undefined, options: daemonOptions };
const misuse = misuseOf();

/**
 * Reads the arguments after the program's name. Throws `invalid` with the whole line to show; the
 * exit code is then 2.
 */
export function parseArguments(args: readonly string[]): Invocation {
  const [first, ...rest] = args;
  if (first === undefined || first.startsWith("-")) return parseDaemon(args);
  const command = allCommands.find(({ name }) => name === first);
  if (command !== undefined) return parseCommand(command, rest);
  if (first === HELP) return parseHelp(rest);
  if (DAEMON_WORDS.has(first))
    throw misuse("the daemon starts without a command: steward -config FILE");
  throw misuse(`unknown command ${quote(first)}`, nearest(first, commandNames));
}

function parseCommand(command: Command, args: readonly string[]): Invocation {
  const parsed = readOptions(args, command, [daemon, ...allCommands]);
  return parsed.switches.has("help")
    ? helpOn(command)
    : command.parse(parsed, misuseOf(command.name));
}

function parseDaemon(args: readonly string[]): Invocation {
  const parsed = readOptions(args, daemon, [daemon, ...allCommands]);
  if (parsed.switches.has("help")) return helpOn();
  const [extra] = parsed.positionals;
  if (extra !== undefined)
    throw misuse(
      commandNames.includes(extra)
        ? `the command must come first: steward ${extra} ...`
        : `unexpected argument ${quote(extra)}`,
    );
  return parseDaemonMode(parsed, misuse);
}

function parseHelp([topic]: readonly string[]): Invocation {
  if (topic === undefined || topic === HELP) return helpOn();
  const command = allCommands.find(({ name }) => name === topic);
  if (command === undefined)
    throw misuse(`there is no help on ${quote(topic)}`, nearest(topic, commandNames));
  return helpOn(command);
}

/** Prints the help of a command, or the general one. */
function helpOn(command?: Command): Invocation {
  return {
    command: HELP,
    options: { topic: command?.name },
    run: async ({ output }) => {
      output.stdout(command?.help ?? generalHelp(allCommands));
      return 0;
    },
  };
}
