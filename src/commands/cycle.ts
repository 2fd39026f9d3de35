/**
 * `steward -preflight`, `-once` and `-exposition-check`: every collector of every network runs
 * once, without a listener.
 */
import { systemClock } from "../kernel/base/clock.ts";
import { StewardError, toStewardError } from "../kernel/base/errors.ts";
import type { Environment } from "../kernel/config/key.ts";
import type { CycleArguments } from "./cycle/arguments.ts";
import { exitCode, textOfError, type CycleOutcome } from "./cycle/outcome.ts";
import { formatOutcome, formatOutcomeJson } from "./cycle/print.ts";
import { runTrial } from "./cycle/trial.ts";
import type { CommandOutput } from "./command.ts";
import { orAborted, waitFor } from "../kernel/async/wait.ts";

const INTERRUPTED = 130;
/** What is open may be given back for so long after Ctrl-C. */
const GRACE_MS = 500;

/**
 * Runs the command; resolves with 0, 1, 3, 4 or 5 (see `exitCode`), 130 after Ctrl-C. What went
 * wrong is part of what it prints.
 */
export async function cycle(
  options: CycleArguments,
  environment: Environment,
  output: CommandOutput,
): Promise<number> {
  const interrupt = new AbortController();
  const onSignal = (): void => interrupt.abort(new StewardError("cancelled", "interrupted"));
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  try {
    const trial = runTrial(options, { environment, output, signal: interrupt.signal }).catch(
      (thrown: unknown) => refusal(options, thrown),
    );
    const outcome = await orAborted(trial, interrupt.signal).catch(() => undefined);
    if (outcome === undefined || interrupt.signal.aborted) {
      await waitFor(trial, { clock: systemClock, timeoutMs: GRACE_MS });
      return INTERRUPTED;
    }
    const write = writer(outcome, options, output);
    write(options.json ? formatOutcomeJson(outcome) : formatOutcome(outcome));
    // The JSON has no member for it.
    if (options.json && outcome.idle !== undefined)
      output.stderr(`${options.mode}: ${outcome.idle}\n`);
    return exitCode(outcome);
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  }
}

function refusal({ mode, timeoutMs }: CycleArguments, thrown: unknown): CycleOutcome {
  return {
    requested: { mode, timeoutMs },
    results: [],
    refused: textOfError(toStewardError(thrown)),
    exportAttempted: false,
    aclValidateSkipped: false,
  };
}

/** What was exported to standard output has it for itself. */
function writer(
  { refused, exportsToOutput }: CycleOutcome,
  { json }: CycleArguments,
  { stdout, stderr }: CommandOutput,
): (text: string) => void {
  return exportsToOutput === true || (refused !== undefined && !json) ? stderr : stdout;
}
