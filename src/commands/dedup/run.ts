/** The surroundings of one run of `steward dedup`: threads, progress, log, Ctrl-C. */
import { tmpdir } from "node:os";
import type { AnalysisPhase } from "../../dedup/analysis/engine.ts";
import type { AnalysisParameters } from "../../dedup/analysis/parameters.ts";
import { createKeptTexts } from "../../dedup/kept-texts.ts";
import type { KeptTexts } from "../../dedup/kept-texts.ts";
import { systemClock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { createLog } from "../../kernel/base/log.ts";
import type { Log } from "../../kernel/base/log.ts";
import { createPool } from "../../kernel/pool/pool.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import { createProgress } from "../report/progress.ts";
import type { Progress } from "../report/progress.ts";
import type { AnalysisArguments } from "./arguments.ts";
import { parametersOf } from "./parameters.ts";

/** What a run works with. */
export interface Run {
  readonly options: AnalysisArguments;
  readonly parameters: AnalysisParameters;
  readonly pool: Pool;
  /** Texts that cannot be read again. */
  readonly texts: KeptTexts;
  readonly log: Log;
  readonly progress: Progress;
  /** Fires on SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
}

const INTERRUPTED = 130;

/** Share of the whole that each step takes, for the bar. */
const SHARES = {
  read: [0, 0.45],
  sign: [0.45, 0.75],
  join: [0.75, 0.82],
  cover: [0.82, 0.95],
  group: [0.95, 1],
} as const satisfies Readonly<Record<AnalysisPhase | "read" | "group", readonly [number, number]>>;

const STEP_NAMES: Readonly<Record<keyof typeof SHARES, string>> = {
  read: "reading",
  sign: "signing",
  join: "finding candidates",
  cover: "comparing",
  group: "grouping",
};

/**
 * Calls `work` and resolves with its exit code, or 130 after SIGINT or SIGTERM. Throws what made
 * the run fail.
 */
export async function withRun(
  options: AnalysisArguments,
  work: (run: Run) => Promise<number>,
): Promise<number> {
  const parameters = parametersOf(options);
  const interrupt = new AbortController();
  const onSignal = (): void => interrupt.abort(new StewardError("cancelled", "interrupted"));
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  const { signal } = interrupt;
  const log = createLog({
    level: "warn",
    format: "text",
    write: (line) => process.stderr.write(line),
    now: () => systemClock.now(),
  });
  const pool = createPool({
    clock: systemClock,
    log,
    ...(options.workers === undefined ? {} : { threads: options.workers }),
  });
  const progress = createProgress({
    clock: systemClock,
    quiet: options.quiet,
    write: (text) => process.stderr.write(text),
    // A bar is drawn over again and again, which a dumb terminal cannot do.
    columns: () =>
      process.stderr.isTTY && process.env["TERM"] !== "dumb" ? process.stderr.columns : undefined,
  });
  const texts = createKeptTexts({ folder: options.state ?? tmpdir() });
  try {
    return await work({ options, parameters, pool, texts, log, progress, signal });
  } catch (error) {
    progress.end("broken");
    if (signal.aborted) return INTERRUPTED;
    throw error;
  } finally {
    await pool.close();
    await texts.close();
  }
}

/** Shows how far a step of the analysis is; `share` is 0 to 1. */
export function showStep(
  { progress }: Run,
  step: keyof typeof SHARES,
  share: number,
  documents: number,
): void {
  const [from, to] = SHARES[step];
  progress.update({ phase: STEP_NAMES[step], fraction: from + (to - from) * share, documents });
}
