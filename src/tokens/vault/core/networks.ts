/** What counts as one address where failures are counted. */
import { isIPv6 } from "node:net";
import { isLoopback } from "../../../kernel/config/address.ts";

const MAPPED = "::ffff:";

/** An IPv4 address, or the /64 of an IPv6 one, which one host can have all of; undefined when the address is not known. */
export function networkOf(address: string | undefined): string | undefined {
  if (address === undefined || address === "") return undefined;
  if (address.startsWith(MAPPED) && address.includes(".")) return address.slice(MAPPED.length);
  if (!isIPv6(address) || isLoopback(address)) return address;
  const [head = [], tail = []] = (address.split("%", 1)[0] ?? "").split("::").map((half) => (half === "" ? [] : half.split(":")));
  // What `::` leaves out is zeros.
  const whole = [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => "0"), ...tail];
  return `${whole.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}
