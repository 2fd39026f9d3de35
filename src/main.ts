/** The command line: parses the arguments and imports only the command they name. */
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { parseArguments } from "./commands/arguments.ts";
import type { CommandContext } from "./commands/command.ts";
import type { DaemonArguments } from "./daemon/configuration.ts";
import { endProcess } from "./daemon/end-process.ts";
import { makeFolder } from "./kernel/base/system/folder.ts";
import { toStewardError, type StewardError } from "./kernel/base/errors.ts";
import { createStopSignals } from "./kernel/supervisor/stop-signals.ts";
import { keepAlive } from "./kernel/async/wait.ts";

/** Written as a whole: one or a few lines. */
function complain(message: string): void {
  process.stderr.write(`${message}\n`);
}

const output = {
  stdout: (text: string): void => void process.stdout.write(text),
  stderr: (text: string): void => void process.stderr.write(text),
};

function end(code: number): Promise<never> {
  return endProcess(code, (last) => process.exit(last));
}

async function serveDaemon(options: DaemonArguments): Promise<number> {
  // First of all: a signal while modules load also requests a stop. Kept until the end: a signal
  // while the last output is written must not change the exit status.
  const signals = createStopSignals(process);
  const { configureDaemon } = await import("./daemon/configuration.ts");
  const { withFoundFile } = await import("./commands/config-search.ts");
  const configuration = configureDaemon(withFoundFile(options, process.env), process.env);
  keepCompiledCode(configuration.stateRoot);
  const { serve } = await import("./daemon/serve.ts");
  try {
    return await serve(configuration, signals, end);
  } catch (thrown) {
    const { describeDemoStartError } = await import("./daemon/demo/start-error.ts");
    throw describeDemoStartError(thrown, configuration, {
      environment: process.env,
      directory: process.cwd(),
      program: import.meta.filename,
    });
  }
}

/** Only the daemon keeps compiled code: a command must not write anywhere unexpected. */
function keepCompiledCode(stateRoot: string): void {
  const folder = join(stateRoot, "cache", "compile");
  try {
    makeFolder(folder);
    enableCompileCache(folder);
  } catch {
    // Without the cache the start is only slower; an unusable state folder is reported when it is
    // opened.
  }
}

function remedyOf({ message, remedy }: StewardError): string {
  return remedy === undefined || message.includes(remedy) ? "" : `; ${remedy}`;
}

/** Resolves when everything was written, or the reader is gone. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write("", () => resolve());
  });
}

/** Set when output was lost, e.g. because the disk is full. */
let lost: NodeJS.ErrnoException | undefined;

function watchOutput(stream: NodeJS.WriteStream): void {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // `steward dedup … | head` is not a failure: a reader that goes away only ends the writing.
    if (error.code !== "EPIPE") lost = error;
  });
}

const context: CommandContext = { environment: process.env, output, serve: serveDaemon };

async function main(): Promise<number> {
  watchOutput(process.stdout);
  watchOutput(process.stderr);
  // Timers of the clock do not keep the process alive; while a command runs, this one does.
  using _alive = keepAlive();
  try {
    return await parseArguments(process.argv.slice(2)).run(context);
  } catch (thrown) {
    const error = toStewardError(thrown);
    if (error.rule === "usage") {
      complain(error.message);
      return 2;
    }
    complain(`steward: ${error.message}${remedyOf(error)}`);
    if (error.code === "internal" && thrown instanceof Error)
      complain(thrown.stack ?? thrown.message);
    return 1;
  }
}

const code = await main();
await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
if (lost !== undefined) complain(`steward: the output could not be written: ${lost.message}`);
// Resources of a component that did not stop must not keep the process alive.
await end(lost === undefined ? code : code || 1);
