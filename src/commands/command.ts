/** How commands are declared: name, help, options, operands and what runs. */
import { StewardError } from "../kernel/base/errors.ts";
import { printable } from "../kernel/base/text/printable.ts";
import type { Environment } from "../kernel/config/key.ts";
import type { DaemonArguments } from "../daemon/configuration.ts";
import type { OptionTable, ParsedOptions } from "./options.ts";

/** Where the lines of a command go. */
export interface CommandOutput {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
}

/** Environment and output of the process, for a command. */
export interface CommandContext {
  readonly environment: Environment;
  readonly output: CommandOutput;
  /** Runs the daemon until it is stopped. */
  readonly serve: (options: DaemonArguments) => Promise<number>;
}

/** A command with the arguments that it was given. */
export interface Invocation {
  readonly command: string;
  readonly options?: unknown;
  /** Resolves with the exit code. Throws `StewardError`. */
  readonly run: (context: CommandContext) => Promise<number>;
}

/** Wrong use: one line that names the problem, the command and where to read on. */
export type Misuse = (problem: string) => StewardError;

export interface Command {
  /** The first word after `steward`. */
  readonly name: string;
  /** The line in the general help: name and operands, at most 29 characters. */
  readonly usage: string;
  /** One line of the command list, at most 48 characters. */
  readonly summary: string;
  readonly options: OptionTable;
  /** It asks a running daemon; the general help lists such commands apart. Default false. */
  readonly asksDaemon?: boolean;
  /** Words that its first operand may be, for the shell's completion. */
  readonly words?: readonly string[];
  /** Its help text: at most 80 columns, with examples and exit codes. */
  readonly help: string;
  /** Throws what `misuse` returns. Not called for `--help`. */
  parse(parsed: ParsedOptions, misuse: Misuse): Invocation;
}

/**
 * Declares a command. `run` imports what it needs when it is called, so that a command loads only
 * its own code; `--help` is added to its options.
 */
export function defineCommand<O>({
  parse,
  run,
  options,
  ...declared
}: Omit<Command, "parse"> & {
  readonly parse: (parsed: ParsedOptions, misuse: Misuse) => O;
  readonly run: (options: O, context: CommandContext) => Promise<number>;
}): Command {
  return {
    ...declared,
    options: { ...options, help: { short: "h" } },
    parse(parsed, misuse) {
      const given = parse(parsed, misuse);
      return { command: declared.name, options: given, run: (context) => run(given, context) };
    },
  };
}

/** The options of commands that work on the state of a daemon: where it is, as for the daemon. */
export const stateOptions: OptionTable = { config: { value: "text" }, demo: {} };

/** An empty file name means none, so that a unit file may pass an unset variable. */
export function stateArguments({ texts, switches }: ParsedOptions): DaemonArguments {
  return { config: texts.get("config") || undefined, demo: switches.has("demo") };
}

/** Refuses operands beyond the first `count`. */
export function refuseOperands(
  { positionals }: ParsedOptions,
  count: number,
  misuse: Misuse,
): void {
  const extra = positionals[count];
  if (extra !== undefined) throw misuse(`unexpected argument ${quote(extra)}`);
}

/** Creates the errors of wrong use of a command, or of the daemon. */
export function misuseOf(command?: string): (problem: string, meant?: string) => StewardError {
  const who = command === undefined ? "steward" : `steward ${command}`;
  return (problem, meant) => {
    const hint = meant === undefined ? ";" : `, did you mean ${meant}?`;
    return new StewardError("invalid", `${who}: ${problem}${hint} see ${who} --help`, {
      rule: "usage",
    });
  };
}

/** Whatever was typed must not reach the terminal raw, nor fill it. */
export function quote(text: string): string {
  return `"${shorten(text)}"`;
}

export function shorten(text: string): string {
  return printable(text.length > 100 ? `${text.slice(0, 97)}...` : text);
}
