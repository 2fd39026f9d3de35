/** Every collector of a network once, for who wants to know whether it can be collected. */
import { delay, type Clock } from "../../kernel/base/clock.ts";
import type { StewardError } from "../../kernel/base/errors.ts";
import type { CollectorRunner } from "./collector-runner.ts";

/** How the run of a collector ended. */
export interface CollectorResult {
  readonly network: string;
  readonly collector: string;
  readonly tookMs: number;
  /** Undefined when it went well. */
  readonly error: StewardError | undefined;
}

/** How long a cycle may take. */
export interface CycleBudget {
  /** Ends what runs at once; its reason is the error of what had not ended. */
  readonly signal: AbortSignal;
  /** When the signal will fire at the latest. */
  readonly timeoutMs: number;
}

/** Fills the cache that others look devices up in. */
const FIRST = "devices";
/** Others wait for it for this share of the time, so that they get their turn when it hangs. */
const FIRST_SHARE = 1 / 3;

/**
 * Runs them, devices first and then all others at once: each asks the same control plane through
 * the same client, which bounds them. Never rejects.
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
  const waited = new AbortController();
  await Promise.race([
    Promise.all(first),
    delay(clock, timeoutMs * FIRST_SHARE, AbortSignal.any([signal, waited.signal])).catch(
      () => undefined,
    ),
  ]);
  waited.abort();
  const others = runners.filter(({ name }) => name !== FIRST).map(run);
  return await Promise.all([...first, ...others]);
}
