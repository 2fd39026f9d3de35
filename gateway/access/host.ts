/**
 * Checks the host name of a request. Without a token it must be this machine's own, else a foreign
 * page could reach the port by DNS rebinding.
 */
import { isLoopback } from "../../src/kernel/config/values/address.ts";

/**
 * The parts of a `Host` or `:authority`: lower case, without brackets and trailing dot; an absent
 * port is empty.
 */
export interface Authority {
  readonly host: string;
  readonly port: string;
}

/** Undefined when the text is not a host with an optional port. */
export function parseAuthority(text: string): Authority | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^\s:/?#@[\]\\]+))(?::(\d{1,5}))?$/i.exec(text);
  const host = (match?.[1] ?? match?.[2])?.toLowerCase().replace(/\.$/, "");
  return match === null || host === undefined || host === ""
    ? undefined
    : { host, port: match[3] ?? "" };
}

/**
 * Whether the name is a loopback literal, `localhost` or one of `gateway.allowed_hosts`, with any
 * port.
 */
export function isTrustedHost(authority: string, allowed: readonly string[]): boolean {
  const asked = parseAuthority(authority);
  if (asked === undefined) return false;
  return (
    isLoopback(asked.host) || allowed.some((name) => parseAuthority(name)?.host === asked.host)
  );
}
