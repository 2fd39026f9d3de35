/** Looks up the name of a network configured as `-` (the credential's own network). */
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { Provider } from "../providers/provider.ts";
import { withDeadline } from "../../kernel/async/deadline.ts";

export const OWN_NETWORK = "-";
/** Longest wait for the lookup. */
const LOOKUP_TIMEOUT_MS = 10_000;

/**
 * Looks up the name once; on failure the configured one stays. Rejects only with the signal's
 * reason.
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
  const reason = (): StewardError =>
    new StewardError(
      "deadline",
      `the control plane did not return the network's name within ${LOOKUP_TIMEOUT_MS} ms`,
    );
  try {
    const found = await withDeadline(
      { clock, timeoutMs: LOOKUP_TIMEOUT_MS, signal, reason },
      (ending) => provider.networkName(ending),
    );
    return found === undefined || found.trim() === "" ? configured : found;
  } catch (thrown) {
    signal.throwIfAborted();
    log.info("cannot read the network's name from the control plane", {
      shown: configured,
      error: toStewardError(thrown),
    });
    return configured;
  }
}
