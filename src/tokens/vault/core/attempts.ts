/**
 * How often an address may fail to say who it is: a bound on guessing and on what strangers can have written into the audit. It counts
 * failures, not requests, by the address alone, in constant memory; a live token is no guess and passes whatever its address did.
 */
import { isIPv6 } from "node:net";
import type { Clock } from "../../../kernel/base/clock.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import type { Log } from "../../../kernel/base/log.ts";
import { isLoopback } from "../../../kernel/config/address.ts";

const WINDOW_MS = 60_000;
/** In one window. Programs of this machine share an address, and so do all clients of a proxy on it. */
const FAILURES = 50;
const FAILURES_LOOPBACK = 1_000;
/** Addresses kept; beyond them the oldest are forgotten. */
const ADDRESSES = 10_000;
const MAPPED = "::ffff:";

/** Counts failed attempts. Addresses that are not known are not counted. */
export interface Attempts {
  /** Throws `exhausted` with the time to wait while an address has failed too often. */
  assertMayTry(address: string | undefined): void;
  /** An attempt failed. */
  failed(address: string | undefined): void;
}

/** A count from nothing. */
export function createAttempts({ clock, log }: { readonly clock: Clock; readonly log: Log }): Attempts {
  /** By the time of their first failure, so that the oldest come first. */
  const windows = new Map<string, { readonly endsAtMs: number; failures: number }>();
  const windowOf = (network: string): { readonly endsAtMs: number; failures: number } | undefined => {
    const found = windows.get(network);
    if (found === undefined || clock.monotonic() < found.endsAtMs) return found;
    windows.delete(network);
    return undefined;
  };
  return {
    assertMayTry(address) {
      const network = networkOf(address);
      const window = network === undefined ? undefined : windowOf(network);
      if (network === undefined || window === undefined || window.failures < limitOf(network)) return;
      const retryAfterMs = Math.max(1, window.endsAtMs - clock.monotonic());
      throw new StewardError("exhausted", `too many failed attempts from ${network}; try again in ${Math.ceil(retryAfterMs / 1_000)} s`, { rule: "attempts", retryAfterMs });
    },
    failed(address) {
      const network = networkOf(address);
      if (network === undefined) return;
      const window = windowOf(network) ?? { endsAtMs: clock.monotonic() + WINDOW_MS, failures: 0 };
      window.failures += 1;
      if (window.failures === limitOf(network)) log.warn("an address fails to log in too often and is refused for a while", { address: network, failures: window.failures });
      if (windows.has(network)) return;
      windows.set(network, window);
      const [oldest] = windows.keys();
      if (windows.size > ADDRESSES && oldest !== undefined) windows.delete(oldest);
    },
  };
}

function limitOf(network: string): number {
  return isLoopback(network) ? FAILURES_LOOPBACK : FAILURES;
}

/** An IPv4 address, or the /64 of an IPv6 one, which one host can have all of. */
function networkOf(address: string | undefined): string | undefined {
  if (address === undefined || address === "") return undefined;
  if (address.startsWith(MAPPED) && address.includes(".")) return address.slice(MAPPED.length);
  if (!isIPv6(address) || isLoopback(address)) return address;
  const [head = [], tail = []] = (address.split("%", 1)[0] ?? "").split("::").map((half) => (half === "" ? [] : half.split(":")));
  // What `::` leaves out is zeros.
  const whole = [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => "0"), ...tail];
  return `${whole.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}
