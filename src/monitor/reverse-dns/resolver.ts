/** Asks a resolver for the names of an address (RFC 1035, section 3.5; RFC 3596, section 2.5). */
import type { ResolverOptions } from "node:dns";
import { Resolver } from "node:dns/promises";
import { isIP, isIPv6 } from "node:net";
import type { Clock } from "../../kernel/base/clock.ts";
import { ipv6Groups } from "../../kernel/base/ip-address.ts";
import type { ReverseDnsOptions } from "./types.ts";

export interface ReverseResolver {
  /** Names that can be shown; empty when there is none. Rejects when nobody answers. */
  resolve(address: string): Promise<readonly string[]>;
  /** Ends what is under way. */
  cancel(): void;
}

/** Answers that say that there is no name. */
const NONE = new Set(["ENOTFOUND", "ENODATA"]);
/** Whoever owns an address chooses its name: anything else is no host name. */
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/;

/** How often the system's servers are looked up while they fail. */
const LOOKUP_MS = 30_000;

export interface ResolverDeps {
  readonly clock: Clock;
  /** For tests; default: one that asks those servers that the system is set up with now. */
  readonly systemResolver?: (options: ResolverOptions) => Resolver;
}

/**
 * Asks `server`, or those that the system is set up with: they change with the network, and a
 * resolver keeps those of its own start.
 */
export function createReverseResolver(
  { server, timeoutMs }: Pick<ReverseDnsOptions, "server" | "timeoutMs">,
  { clock, systemResolver = (options) => new Resolver(options) }: ResolverDeps,
): ReverseResolver {
  const options = { timeout: timeoutMs, tries: 1, maxTimeout: timeoutMs };
  let resolver = server === "" ? systemResolver(options) : new Resolver(options);
  if (server !== "") resolver.setServers([isIPv6(server) ? `[${server}]` : server]);
  /** Its queries end by their time limit, or with `cancel`. */
  let previous: Resolver | undefined;
  let lookupAtMs = -Infinity;
  const lookUpServers = (): void => {
    if (server !== "" || clock.monotonic() < lookupAtMs) return;
    lookupAtMs = clock.monotonic() + LOOKUP_MS;
    const fresh = systemResolver(options);
    if (fresh.getServers().join() === resolver.getServers().join()) return;
    [previous, resolver] = [resolver, fresh];
  };
  return {
    async resolve(address) {
      try {
        const names = await resolver.resolvePtr(reverseName(address));
        return names.map(hostName).filter((name) => HOST_NAME.test(name));
      } catch (error) {
        if (NONE.has((error as NodeJS.ErrnoException).code ?? "")) return [];
        lookUpServers();
        throw error;
      }
    },
    cancel() {
      resolver.cancel();
      previous?.cancel();
    },
  };
}

/** Not `reverse()`, which takes a failing server for an address without a name. */
function reverseName(address: string): string {
  if (!isIPv6(address)) return `${address.split(".").toReversed().join(".")}.in-addr.arpa`;
  const digits = ipv6Groups(address).map((group) => group.toString(16).padStart(4, "0"));
  return `${digits.join("").split("").toReversed().join(".")}.ip6.arpa`;
}

function hostName(text: string): string {
  return text.toLowerCase().replace(/\.$/, "");
}

/** Whether a text is an IP address, or one with a port as `192.0.2.1:53` or `[2001:db8::1]:53`. */
export function isServer(text: string): boolean {
  if (isIP(text) > 0) return true;
  const [, host = "", port = ""] = /^(?:\[(?=.*:))?([^[\]]+?)\]?:(\d{1,5})$/.exec(text) ?? [];
  const bracketed = text.startsWith("[");
  return (
    isIP(host) === (bracketed ? 6 : 4) &&
    text === (bracketed ? `[${host}]:${port}` : `${host}:${port}`) &&
    Number(port) >= 1 &&
    Number(port) <= 65_535
  );
}
