/** Runs every collector of a network once, for `-once` and `-preflight`. */
import type { Clock } from "../../kernel/base/clock.ts";
import type { StewardError } from "../../kernel/base/errors.ts";
import type { CollectorRunner } from "./collector-runner.ts";
import { waitFor } from "../../kernel/async/wait.ts";

export interface CollectorResult {
  readonly network: string;
  readonly collector: string;
  readonly tookMs: number;
  /** Undefined on success. */
  readonly error: StewardError | undefined;
}

export interface CycleBudget {
  /** Aborts running collectors; its reason becomes their error. */
  readonly signal: AbortSignal;
  /** Time until the signal fires at the latest. */
  readonly timeoutMs: number;
}

/** Fills the device cache. */
const FIRST = "devices";
/** Share of the time for which others wait for it. */
const FIRST_SHARE = 1 / 3;

/**
 * Runs devices first, then all others concurrently; the shared client bounds their calls. Never
 * rejects.
 */
export async function runCycle(
  {
    clock,
    network,
    runners,
  }: {
    readonly clock: Clock;
    readonly network: string;
    readonly runners: readonly Pick<CollectorRunner, "name" | "runNow">[];
  },
  { signal, timeoutMs }: CycleBudget,
): Promise<CollectorResult[]> {
  const run = async (runner: (typeof runners)[number]): Promise<CollectorResult> => ({
    network,
    collector: runner.name,
    ...(await runner.runNow(signal)),
  });
  const first = runners.filter(({ name }) => name === FIRST).map(run);
  await waitFor(Promise.all(first), { clock, timeoutMs: timeoutMs * FIRST_SHARE, signal });
  const others = runners.filter(({ name }) => name !== FIRST).map(run);
  return await Promise.all([...first, ...others]);
}
