/**
 * Networks that tokens, roles and secret ids are bound to. A single address stands for its own
 * network.
 */
import { BlockList, isIP, isIPv6 } from "node:net";
import { logicalError } from "../logical/occurred.ts";
import { unmapped } from "../../kernel/base/ip-address.ts";

/** Networks of one list. */
const MAX_CIDRS = 256;

interface Network {
  readonly address: string;
  readonly bits: number;
  readonly family: "ipv4" | "ipv6";
}

/** The networks in their full spelling. Throws `invalid` naming the first that is none. */
export function parseCidrs(field: string, given: readonly string[]): readonly string[] {
  if (given.length > MAX_CIDRS)
    throw logicalError(`${field} holds at most ${MAX_CIDRS} networks`, { field, rule: "count" });
  return given.map((text) => {
    const network = networkOf(text.trim());
    if (network === undefined)
      throw logicalError(
        `${field}: ${JSON.stringify(text.slice(0, 60))} is neither an address nor a network such as 10.0.0.0/8`,
        { field, rule: "cidr" },
      );
    return `${network.address}/${network.bits}`;
  });
}

/** Whether each of the networks lies in one of the others; true when there are no others. */
export function isSubset(inner: readonly string[], outer: readonly string[]): boolean {
  if (outer.length === 0) return true;
  return inner.every((text) => {
    const one = networkOf(text);
    return one !== undefined && outer.some((other) => contains(networkOf(other), one));
  });
}

/** Compiled lists, cached while referenced: a token's list is checked at each use. */
const compiled = new WeakMap<readonly string[], BlockList>();

/**
 * Whether an address lies in one of the networks, which are in their full spelling; true when there
 * are none. An unknown address lies in no network.
 */
export function admits(cidrs: readonly string[], address: string | undefined): boolean {
  if (cidrs.length === 0) return true;
  if (address === undefined) return false;
  const plain = unmapped(address);
  if (isIP(plain) === 0) return false;
  let list = compiled.get(cidrs);
  if (list === undefined) {
    list = listOf(cidrs);
    compiled.set(cidrs, list);
  }
  return list.check(plain, isIPv6(plain) ? "ipv6" : "ipv4");
}

/** Invalid texts match no address. */
function listOf(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of cidrs) {
    const network = networkOf(text);
    if (network !== undefined) list.addSubnet(network.address, network.bits, network.family);
  }
  return list;
}

function contains(outer: Network | undefined, inner: Network): boolean {
  if (outer === undefined || outer.family !== inner.family || outer.bits > inner.bits) return false;
  const list = new BlockList();
  list.addSubnet(outer.address, outer.bits, outer.family);
  return list.check(inner.address, inner.family);
}

function networkOf(text: string): Network | undefined {
  const [address = "", bits, ...rest] = text.split("/");
  if (isIP(address) === 0 || address.includes("%") || rest.length > 0) return undefined;
  const family = isIPv6(address) ? "ipv6" : "ipv4";
  const most = family === "ipv6" ? 128 : 32;
  if (bits !== undefined && (!/^\d{1,3}$/.test(bits) || Number(bits) > most)) return undefined;
  return { address, bits: bits === undefined ? most : Number(bits), family };
}
