/** Runs a command against a running daemon: connects, stops on Ctrl-C, prints text or JSON. */
import { systemClock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { CommandContext } from "../command.ts";
import { createStyle, hasColors, type Style } from "../report/style.ts";
import { connectDaemon, type DaemonClient } from "./client.ts";
import type { RemoteArguments } from "./options.ts";
import { targetOf } from "./target.ts";

const INTERRUPTED = 130;

/** What a command works with. */
export interface RemoteSession {
  readonly daemon: DaemonClient;
  /** Fires on Ctrl-C. */
  readonly signal: AbortSignal;
  readonly style: Style;
  readonly nowMs: number;
  /** One line, or several. */
  readonly print: (text: string) => void;
  /** With `--json`, prints the value and returns true. */
  readonly printJson: (value: unknown) => boolean;
  /** The same on one line, for values that follow each other. */
  readonly printJsonLine: (value: unknown) => boolean;
}

/** Resolves with the command's exit code, or 130 after Ctrl-C. Throws what the daemon refused. */
export async function runRemote(
  options: RemoteArguments,
  { environment, output }: Pick<CommandContext, "environment" | "output">,
  use: (session: RemoteSession) => Promise<number>,
): Promise<number> {
  const interrupt = new AbortController();
  const onSignal = (): void => interrupt.abort(new StewardError("cancelled", "interrupted"));
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  const daemon = connectDaemon(targetOf(options, environment));
  try {
    return await use({
      daemon,
      signal: interrupt.signal,
      style: createStyle(
        hasColors({ choice: "auto", isTerminal: process.stdout.isTTY, environment }),
      ),
      nowMs: systemClock.now(),
      print: (text) => output.stdout(`${text}\n`),
      printJson(value) {
        if (options.json) output.stdout(`${JSON.stringify(value, undefined, 2)}\n`);
        return options.json;
      },
      printJsonLine(value) {
        if (options.json) output.stdout(`${JSON.stringify(value)}\n`);
        return options.json;
      },
    });
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    return INTERRUPTED;
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
    await daemon.close();
  }
}

/** The value, or undefined where the daemon has no such resource or service. */
export async function ifFound<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof StewardError && error.code === "not_found") return undefined;
    throw error;
  }
}
