/** The name of a network that is configured as `-`, its credential's own. */
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { Provider } from "../providers/provider.ts";
import { untilAborted } from "../runner/untrusted-run.ts";

/** How a network is configured whose name the control plane knows. */
export const OWN_NETWORK = "-";
/** How long it may take to tell. */
const TELL_MS = 10_000;

/**
 * Asks once, when the name is to be asked for; without an answer the configured one stays. Rejects
 * only with the signal's reason.
 */
export async function networkName(
  configured: string,
  provider: Pick<Provider, "networkName">,
  {
    clock,
    log,
    signal,
  }: { readonly clock: Clock; readonly log: Log; readonly signal: AbortSignal },
): Promise<string> {
  if (configured !== OWN_NETWORK) return configured;
  const late = new AbortController();
  const timer = clock.timer(clock.monotonic() + TELL_MS, () =>
    late.abort(
      new StewardError(
        "deadline",
        `the control plane did not return the network's name within ${TELL_MS} ms`,
      ),
    ),
  );
  const either = AbortSignal.any([signal, late.signal]);
  try {
    const told = await untilAborted(() => provider.networkName(either), either);
    return told === undefined || told.trim() === "" ? configured : told;
  } catch (thrown) {
    signal.throwIfAborted();
    log.info("cannot read the network's name from the control plane", {
      shown: configured,
      error: toStewardError(thrown),
    });
    return configured;
  } finally {
    timer[Symbol.dispose]();
  }
}
